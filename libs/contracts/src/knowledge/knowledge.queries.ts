/** A document as the API answers it. */
export interface DocumentRow {
  document_id: string;
  owner_id: string | null;
  title: string;
  source: string;
  language: string;
  bytes: number;
  characters: number;
  access: { everyone: boolean; users: string[]; groups: string[] };
  created_at: string;
  updated_at: string;
  etag: string;
  position: string;
}
export interface GroupRow {
  group_id: string;
  name: string;
  members: number;
  created_at: string;
  position: string;
}
/** A passage that was found. */
export interface FoundPassage {
  document_id: string;
  title: string;
  source: string;
  /** Where it stands in the document; `knowledge.read` goes on from there. */
  offset: number;
  text: string;
}
export interface SearchAnswer {
  results: FoundPassage[];
  /** Said where nothing was found. */
  note?: string;
}
export interface ReadAnswer {
  document_id: string;
  title: string;
  source: string;
  offset: number;
  text: string;
  characters: number;
  /** Null: this was the end. */
  next_offset: number | null;
}
export interface SourcesAnswer {
  data: { document_id: string; title: string; source: string; characters: number; updated_at: string }[];
  next_cursor: string | null;
}
