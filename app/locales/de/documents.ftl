### Die Dokumente des Repositorys als Seiten. Wie jedes heißt, steht in app/documents.json.

documents_title = Dokumente
documents_api_about = Alle Aufrufe der Bestenliste, für Menschen und Programme.
documents_english = Dieses Dokument ist auf Englisch.
documents_unknown = Dieses Dokument gibt es nicht
