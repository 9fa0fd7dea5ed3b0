### Sharing an uploaded run.

share_title = Share this result
share_card = Card with the score, device and learning curve of this result
share_now = Share …
share_link = Copy link
share_text = Copy text
share_image = Copy image
share_badge = Copy badge (Markdown)
share_embed = Copy embed code
share_failed = Could not share: { $reason }.
