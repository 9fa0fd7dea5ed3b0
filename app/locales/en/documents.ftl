### Documents of the repository as pages. Their titles are in app/documents.json.

documents_title = Documents
documents_api_about = All calls of the leaderboard, for people and programs.
documents_english = This document is in English.
documents_unknown = No such document
documents_no_folder = the page does not say where its documents are (<meta name="{ $name }">), so it was not put together completely; `cargo xtask run` rebuilds the page
