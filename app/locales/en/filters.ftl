### Filters and order of lists.

filters_all = All
filters_other = Other
filters_order = Order
filters_order_usual = Default
filters_run_in = Run in
filters_system = System
filters_vendor = Vendor
filters_tier = Verification
filters_fastest = Fastest first
filters_newest = Newest first
filters_oldest = Oldest first
filters_most_accurate = Most accurate first
filters_soonest = Shortest time to target first
filters_more = More filters and order
filters_from = From
filters_until = Until
filters_only_device = Only runs of { $device }
filters_show = Show
filters_devices = Devices
filters_compute_on = Compute on
filters_processors = Processors
