### Uploading a result, and the runs that this browser keeps.

upload_unregistered = The leaderboard gave this run no seed: it was not reachable when the run started, or the seed was
    chosen by hand. If you upload the result, it is shown as unverified and not ranked. Run again to be ranked.
upload_title = Upload to the leaderboard
upload_note = Sends exactly the JSON below. You get a link that deletes it.
upload_open_data = Uploaded results are open data under { $licence }: anyone may read, copy and publish them. Your
    deletion link removes this one from the leaderboard and from its data at any time.
upload_refused = Not uploaded: { $reason }. It is kept under “Your runs”.
upload_permalink = Permalink
upload_deletion_link = Deletion link
upload_deletion_note = Anyone with the deletion link can delete this result. The link is shown only here and saved in
    this browser.
upload_own_title = Your runs
upload_own_note = Kept only in this browser. You can delete uploaded runs here.
upload_result = Result
upload_now = Upload it now
upload_no_record = Its record is no longer kept.
upload_forget = Forget
