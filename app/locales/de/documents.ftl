### Die Dokumente des Repositorys als Seiten. Wie jedes heißt, steht in app/documents.json.

documents_title = Dokumente
documents_lead = Sie liegen beim Code, und diese Seite entsteht aus ihnen.
documents_all = Alle Dokumente
documents_api_about = Jeder Aufruf der Bestenliste, für Menschen und für Programme.
documents_english = Dieses Dokument ist auf Englisch.
documents_refused = Das lässt sich nicht zeigen: { $reason }.
documents_unknown = Dieses Dokument gibt es nicht
documents_unknown_why = Ein Dokument „{ $name }“ gibt es nicht.
