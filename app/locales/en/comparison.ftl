### Shared comparisons of backends.

comparison_title = Comparison of backends
comparison_lead = { $device }, in { $client }, shared on { $day }. It was not verified, and its records appear only
    here and are not ranked.
comparison_untrained = { $reason }
comparison_own = Compare on your own device
comparison_share_title = Share this comparison
comparison_share_note = Sends exactly the records in the JSON file. The comparison gets its own page, open to anyone
    with the link. It does not count as a result and is not ranked. You get a link that deletes it.
comparison_not_shared = Not uploaded: { $reason }.
comparison_deletion_note = Anyone with the deletion link can delete the comparison. The link is shown only here and
    saved in this browser.
comparison_delete_what = This removes the comparison from the leaderboard. This cannot be undone, and does not delete
    copies that others have made.
comparison_delete = Delete this comparison
comparison_deleted = The comparison is deleted.
