import { Problem } from '@runyard/contracts';

/** What is not there any more was deleted by an earlier attempt. */
export async function unlessGone(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'not_found')) throw error;
  }
}
