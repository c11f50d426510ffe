import type { StoredText } from '@runyard/contracts';
import type { ChatMessage } from './dialog';

/** What a fold needs beside the events: texts that were stored apart, and what the conversation held before the run. */
export interface Material {
  /** Whole text of a blob; undefined where it is not at hand (then the preview stands for it). */
  text(digest: string): string | undefined;
  history: readonly ChatMessage[];
  /** Goes ahead of call ids in the dialog: they must differ from those of the conversation's earlier runs. */
  callPrefix: string;
}

/** For folds that only ask where a run stands, as controls do. */
export const NO_MATERIAL: Material = { text: () => undefined, history: [], callPrefix: '' };

export const wholeText = (stored: StoredText, material: Material): string =>
  'text' in stored ? stored.text : (material.text(stored.digest) ?? stored.preview);

/** What the model is shown of a tool's result: the shortened text where the whole is stored apart. */
export const shownText = (stored: StoredText): string => ('text' in stored ? stored.text : stored.preview);
