### What a result or a device can be compared with.

candidates_find = Compare with others: part of a device's name, or a link
candidates_found = Found; choose up to three
candidates_refused = Cannot search: { $reason }.
candidates_itself = This one is already in the comparison.
candidates_no_link = Choose one from the list, or paste a link.
