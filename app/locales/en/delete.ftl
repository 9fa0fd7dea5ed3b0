### Deleting a result.

delete_incomplete = This link is not complete
delete_incomplete_why = A deletion link ends in # and a secret, which was shown once, when the result was uploaded.
    Without the secret, the result cannot be deleted here.
delete_deleting = Deleting …
delete_done = The result is deleted.
delete_refused = Not deleted: { $reason }
delete_explanation = This removes result { $result } from the leaderboard and from the open data. It cannot be
    undone. Daily files, which some leaderboards offer, contain it for at most another week. This does not delete
    copies that others have made.
