### Comparisons of back ends that are shared.

comparison_title = Comparison of back ends
comparison_lead = { $device }, in { $client }, shared on { $day }. Nobody has checked it: its records stand here only, and rank nowhere.
comparison_untrained = { $reason }
comparison_refused = This comparison cannot be shown
comparison_own = Compare on your own device
comparison_share_title = Share this comparison
comparison_share = Upload the comparison
comparison_share_note = Sends the records that “Download as JSON” has, and nothing else; it gets a page of its own, for whoever has its link. It is no result, ranks nowhere, and you get a link that deletes it.
comparison_not_shared = Not uploaded: { $reason }.
comparison_shared = It is uploaded.
comparison_permalink = Page of the comparison
comparison_deletion = Deletion link
comparison_deletion_note = Whoever has the deletion link can delete it. It is shown only here, and remembered in this browser.
comparison_delete_title = Delete a comparison
comparison_delete_what = This removes the comparison from the leaderboard. It cannot be undone; copies that others have made are theirs.
comparison_delete = Delete this comparison
comparison_deleted = The comparison is deleted.
