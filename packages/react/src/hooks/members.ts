import type { Person } from '@fanfare/client';
import { useEffect, useState } from 'react';
import { MEMBERS } from '../more-documents.ts';
import { useReader } from '../provider.tsx';
import { answerOf } from '../store/answers.ts';
import { useAnswer } from './answer.ts';

const PAUSE_MS = 150;

interface Found {
  readonly members: { readonly edges: readonly { readonly node: Person }[] };
}

/**
 * People whose names have all words of the search, read when it has stood still for a moment. Until the server has answered, those of
 * the search before stay. It answers readers only with DIRECTORY_SEARCH=members.
 * @param search empty or null: nobody
 */
export function useMembers(
  search: string | null,
  { first = 8 }: { readonly first?: number } = {},
): { readonly members: readonly Person[]; readonly isLoading: boolean; readonly error: Error | null } {
  const wanted = search?.trim() ?? '';
  const [asked, setAsked] = useState(wanted);
  useEffect(() => {
    if (wanted === asked) return undefined;
    // To nobody at once: a list of people that nobody looks for is in the way.
    const timer = setTimeout(() => setAsked(wanted), wanted === '' ? 0 : PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [wanted, asked]);
  const reader = useReader();
  const { data, error } = useAnswer(
    asked === '' ? null : answerOf<Found>(reader, MEMBERS, { search: asked, first }),
  );
  const [shown, setShown] = useState<readonly Person[]>([]);
  useEffect(() => {
    if (data !== undefined) setShown(data.members.edges.map(({ node }) => node));
  }, [data]);
  return {
    members: wanted === '' ? [] : shown,
    isLoading: wanted !== '' && (wanted !== asked || (data === undefined && error === null)),
    error: wanted === '' ? null : error,
  };
}
