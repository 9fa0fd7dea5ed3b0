### The documents of the repository as pages. What each is called stands in app/documents.json.

documents_title = Documents
documents_lead = They lie beside the code, and this page is made from them.
documents_all = All documents
documents_api_about = Every call of the leaderboard, for people and for programs.
documents_english = This document is in English.
documents_refused = This cannot be shown: { $reason }.
documents_unknown = No such document
documents_unknown_why = There is no document “{ $name }”.
