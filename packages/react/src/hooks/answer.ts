import { useSyncExternalStore } from 'react';
import { useProvided } from '../provider.tsx';
import type { Answer, AnswerState } from '../store/answers.ts';

const UNKNOWN = { data: undefined, error: null };

/** What is known of it, with the reader's own writes; asked for when mounted. */
export function useAnswer<Data>(answer: Answer<Data>): AnswerState<Data> {
  const { isEnabled } = useProvided();
  return useSyncExternalStore(isEnabled ? answer.use : answer.subscribe, answer.getSnapshot, () => UNKNOWN);
}
