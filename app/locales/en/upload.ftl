### Uploading a result, and the runs that this browser keeps.

upload_unregistered = The leaderboard gave this run no seed: it could not be reached when the run began, or the seed
    was chosen by hand. Uploaded now, the result is shown as unverified and not ranked; run again to be ranked.
upload_title = Put it on the leaderboard
upload_note = Sends the exact JSON below and nothing else. You get a link that deletes it.
upload_open_data = Uploaded results are open data under { $licence }: anyone may read, copy and publish them. Your
    deletion link removes this one from the leaderboard and from its data at any time.
upload_refused = Not uploaded: { $reason }. It is kept under “Your runs”, for another time.
upload_permalink = Permalink
upload_deletion_link = Deletion link
upload_copy_deletion_link = Copy the deletion link
upload_deletion_note = Whoever has the deletion link can delete this result. It is shown only here, and remembered
    in this browser.
upload_own_title = Your runs
upload_own_note = Kept in this browser only. What is uploaded can be deleted from here.
upload_came_to = What it came to
upload_result = Result
upload_delete_there = Delete it there
upload_not_uploaded = Not uploaded: { $reason }
upload_done = Uploaded.
upload_now = Upload it now
upload_no_record = Its record is no longer kept.
upload_forget = Forget
