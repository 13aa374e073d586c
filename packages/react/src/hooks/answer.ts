import { useSyncExternalStore } from 'react';
import { useProvided } from '../provider.tsx';
import type { Answer, AnswerState } from '../store/answers.ts';

const UNKNOWN = { data: undefined, error: null };

const nothing = (): (() => void) => () => undefined;
const unknown = () => UNKNOWN;

/** What is known of it, with the reader's own writes; asked for when mounted. @param answer null: nothing is asked */
export function useAnswer<Data>(answer: Answer<Data> | null): AnswerState<Data> {
  const { isEnabled } = useProvided();
  const subscribe = (isEnabled ? answer?.use : answer?.subscribe) ?? nothing;
  return useSyncExternalStore<AnswerState<Data>>(subscribe, answer?.getSnapshot ?? unknown, unknown);
}
