### What the server has for runs.

supplies_lacking = { $few } of its { $all } networks need data that is not on this server ({ $data }).
supplies_missing = { $data } is not on this server: { $reason }. { $needed } of the { $all } networks need it and
    cannot be trained here until then.
supplies_data_missing = its data is missing
supplies_needs = { $who } needs { $data }, which is not on this server. Choose other networks.
supplies_burn_ready = Burn is ready.
