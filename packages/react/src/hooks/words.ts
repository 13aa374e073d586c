import { useCommonWords } from '../provider.tsx';
import { MORE_ENGLISH, type Words } from '../more-words.ts';

/** What parts say on their own. */
export function useWords(): Words {
  return { ...MORE_ENGLISH, ...useCommonWords() };
}
