import type { z } from 'zod';
import { textSchema } from '../../descriptors/text-schema.ts';
import {
  hasWords,
  MAX_FOUND_LENGTH,
  MAX_FOUND_WORDS,
  type WantedWords,
  wantedWords,
} from '../../descriptors/found-action.ts';
import { descriptorOfType } from '../../descriptors/registry.ts';
import { ACTOR } from '../../descriptors/sentence.ts';
import type { Action, ActionId } from '../../domain/action.ts';
import { isUnnamed } from '../../domain/block.ts';
import { comparable } from '../../domain/text-forms.ts';
import { load } from '../session/load.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { FeedFilterRow } from './declared.ts';

/** Entries among which one looks for words, the newest of the list. */
export const MAX_FOUND_AMONG = 1_000;

export const FIND_DESCRIPTION = `Only what has all of these words in its sentence, texts, tags or names; of the last word the beginning is enough. At most ${String(MAX_FOUND_LENGTH)} characters and ${String(MAX_FOUND_WORDS)} words, compared as muted phrases are. Looks at the newest ${MAX_FOUND_AMONG.toLocaleString('en')} entries.`;

const wordsSchema = textSchema(MAX_FOUND_LENGTH)
  .transform(comparable)
  // Normalisation makes up to eighteen characters of one.
  .refine((form) => form.length <= 2 * MAX_FOUND_LENGTH, {
    error: `Must be at most ${String(2 * MAX_FOUND_LENGTH)} characters in the form in which it is compared`,
    abort: true,
  })
  .transform(wantedWords)
  .refine((words) => words.length > 0, 'Must contain at least one word')
  .refine((words) => words.length <= MAX_FOUND_WORDS, {
    error: `Must have at most ${String(MAX_FOUND_WORDS)} words`,
  });

/** `null`: nothing is looked for. */
export const textCheck: z.ZodType<WantedWords | null> = wordsSchema
  .nullish()
  .transform((words) => words ?? null);

/** The current names that the sentence of an action shows, by the id of the action. */
const NAMES_SHOWN = load<{ readonly id: ActionId; readonly names: readonly string[] }>({
  async batch({ actions, actionCache, members, refs, nameCache }, ids, request) {
    const directory = (await request?.directory()) ?? null;
    const found = await (request === undefined ? actions : actionCache).findByIds(ids);
    const named = new Map(found.map((action) => [action.id, namedIn(action)]));
    const all = [...new Set([...named.values()].flat())];
    const [people, things] = await Promise.all(
      directory === null
        ? [members.findByIds(all), refs.namesOf(all)]
        : [nameCache.members(directory, all), nameCache.refNames(directory, all)],
    );
    const names = new Map(people.map(({ userId, name }) => [userId, name]));
    for (const { refId, label } of things) if (label !== null) names.set(refId, label);
    return Array.from(named, ([id, some]) => ({ id, names: some.flatMap((one) => names.get(one) ?? []) }));
  },
  key: ({ id }) => id,
  hasNames: true,
});

function namedIn(action: Action): string[] {
  const { actorId, descriptor } = action;
  const ids = descriptorOfType(descriptor.type)?.sentence.ids ?? [];
  const things = ids.flatMap((argument) => {
    const id = argument === ACTOR ? undefined : descriptor[argument];
    return typeof id === 'string' && !isUnnamed(action, id) ? [id] : [];
  });
  return [actorId, ...things];
}

export const TEXT: FeedFilterRow<WantedWords> = {
  ...{ name: 'text', input: 'TEXT', description: FIND_DESCRIPTION },
  check: textCheck,
  needs: [NAMES_SHOWN],
  passes: ({ action }, words, { loaded }) => hasWords(words, action, loaded(NAMES_SHOWN)?.names ?? []),
  mayHavePassed: 'BEFORE_AN_EDIT',
  most: MAX_FOUND_AMONG,
};

/** Those that have the words, in their order. @param words `null`: all of them */
export async function withWords(
  session: ReaderSession,
  words: WantedWords | null,
  actions: readonly Action[],
): Promise<readonly Action[]> {
  if (words === null || actions.length === 0) return actions;
  const found = await session.loadMany(
    NAMES_SHOWN,
    actions.map(({ id }) => id),
  );
  return actions.filter((action, index) => hasWords(words, action, found[index]?.names ?? []));
}
