import { useQuery } from '@fanfare/react';
import type { ReactNode } from 'react';
import { t } from '../words/language.ts';
import { useEvery } from './use-every.ts';

const STATE = 'query RebuildState($memberId: String!) { feedState(memberId: $memberId) }';

/** Whether a rebuild that was asked for is still under way. */
export function RebuildState({ memberId }: { readonly memberId: string }): ReactNode {
  const { data, error, reload } = useQuery<{ readonly feedState: string }>(STATE, { memberId });
  const isDone = data?.feedState === 'READY';
  useEvery(isDone ? 60_000 : 500, reload);
  if (error !== null) return error.message;
  return t(`The feed of ${memberId} ${isDone ? 'has been rebuilt' : 'is being rebuilt'}`);
}
