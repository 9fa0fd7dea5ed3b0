### The documents of the repository as pages. What each is called stands in app/documents.json.

documents_title = Documents
documents_lead = These pages are generated from the documents in the repository.
documents_all = All documents
documents_api_about = All calls of the leaderboard, for people and programs.
documents_english = This document is in English.
documents_refused = This cannot be shown: { $reason }.
documents_unknown = No such document
documents_unknown_why = There is no document “{ $name }”.
