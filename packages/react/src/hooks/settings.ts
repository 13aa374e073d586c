import type { MuteTarget, NotificationPreference, QuietHours, ReaderList } from '@fanfare/client';
import { useEffect } from 'react';
import { useProvided, useReader } from '../provider.tsx';
import {
  changeLists,
  listsAnswer,
  listsOfAnswer,
  setInList,
  viewsAnswer,
  type CountedList,
  type CountedView,
} from '../store/own-lists.ts';
import {
  mute,
  mutesAnswer,
  preferencesAnswer,
  resumeMails,
  setPreferences,
  setQuietHours,
  unmute,
  type Mails,
  type Mute,
  type PreferenceChange,
} from '../store/standings.ts';
import { useAnswer } from './answer.ts';
import type { Answer, AnswerState } from '../store/answers.ts';

interface Known {
  readonly isLoading: boolean;
  /** Why it cannot be read. A change that fails is taken back, and its promise rejects. */
  readonly error: Error | null;
}

/** Set on other devices, too: read again when it is shown. */
function useFresh<Data>(answer: Answer<Data>): Known & Pick<AnswerState<Data>, 'data'> {
  const { isEnabled } = useProvided();
  useEffect(() => {
    if (isEnabled && answer.getSnapshot().data !== undefined) void answer.reload();
  }, [answer, isEnabled]);
  const { data, error } = useAnswer(answer);
  return { data, error, isLoading: data === undefined && error === null };
}

/** What the reader does not want to see: people, things, types of actions, phrases. Changes are shown at once. */
export function useMutes(): Known & {
  readonly mutes: readonly Mute[];
  readonly add: (target: MuteTarget, until?: Date) => Promise<void>;
  readonly remove: (target: MuteTarget) => Promise<void>;
} {
  const reader = useReader();
  const { data, ...known } = useFresh(mutesAnswer(reader));
  return {
    mutes: data?.viewer.mutes ?? [],
    ...known,
    add: (target, until) => mute(reader, target, until),
    remove: (target) => unmute(reader, target),
  };
}

/** The views of the server's configuration with what is unread of each, all counted at once. `useFeed({ view })` shows one. */
export function useViews(): Known & { readonly views: readonly CountedView[]; readonly reload: () => void } {
  const answer = viewsAnswer(useReader());
  const { data, ...known } = useFresh(answer);
  return {
    views: data?.viewer.views ?? [],
    ...known,
    reload: () => void answer.reload(),
  };
}

/** The lists that the reader has made of what they follow. `useFeed({ listId })` shows one. */
export function useLists(): Known & {
  readonly lists: readonly CountedList[];
  readonly reload: () => void;
  readonly create: (name: string, isExclusive?: boolean) => Promise<ReaderList>;
  readonly update: (id: string, changes: Partial<Omit<ReaderList, 'id'>>) => Promise<ReaderList>;
  readonly remove: (id: string) => Promise<string>;
} {
  const reader = useReader();
  const answer = listsAnswer(reader);
  const { data, ...known } = useFresh(answer);
  return {
    lists: data?.viewer.lists ?? [],
    reload: () => void answer.reload(),
    ...known,
    create: (name, isExclusive = false) =>
      changeLists(reader, ({ createList }) => createList({ name, isExclusive })),
    update: (id, changes) => changeLists(reader, ({ updateList }) => updateList({ id, ...changes })),
    remove: (id) => changeLists(reader, ({ deleteList }) => deleteList({ id })),
  };
}

/** In which lists a person or thing is that the reader follows. Changes are shown at once. */
export function useListsOf(refId: string): Known & {
  /** Ids of lists. */
  readonly ids: readonly string[];
  readonly set: (listId: string, isIn: boolean) => Promise<void>;
} {
  const reader = useReader();
  const { data, ...known } = useFresh(listsOfAnswer(reader, refId));
  return {
    ids: data?.node?.follow?.listIds ?? [],
    ...known,
    set: (listId, isIn) => setInList(reader, listId, refId, isIn),
  };
}

/** How the reader is notified: each kind by each channel, and when not. Changes are shown at once. */
export function usePreferences(): Known & {
  readonly preferences: readonly NotificationPreference[];
  readonly quietHours: QuietHours | null;
  readonly set: (...changes: readonly PreferenceChange[]) => Promise<void>;
  /** @param hours null: none */
  readonly setQuietHours: (hours: QuietHours | null) => Promise<void>;
  /** Null: the server sends none. */
  readonly mails: Mails | null;
  /** Mails are sent again that came back, or from which the reader unsubscribed. */
  readonly resumeMails: () => Promise<void>;
} {
  const reader = useReader();
  const { data, ...known } = useFresh(preferencesAnswer(reader));
  return {
    preferences: data?.viewer.notificationPreferences ?? [],
    quietHours: data?.viewer.quietHours ?? null,
    ...known,
    set: (...changes) => setPreferences(reader, changes),
    setQuietHours: (hours) => setQuietHours(reader, hours),
    mails: data?.viewer.mails ?? null,
    resumeMails: () => resumeMails(reader),
  };
}
