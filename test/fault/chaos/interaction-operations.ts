import { DEFAULT_REACTIONS } from '../../../src/domain/interaction.ts';
import { INTERACTION_KINDS } from '../../../src/domain/relevancy.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { As } from './call.ts';
import { ADMIN, BOSS, type Roster } from './world.ts';

export interface InteractionOperationsOptions {
  readonly roster: Roster;
  readonly random: SeededRandom;
  /** Does it and notes what came of it. */
  readonly run: <T>(what: string, document: string, variables: object, as: As) => Promise<T | null>;
  /** One of the latest actions. */
  readonly target: () => { readonly id: string; readonly words: string };
}

interface Known {
  readonly id: string;
  readonly isComment: boolean;
  readonly words: string;
}

/** The latest interactions that are moderated and edited. */
const REMEMBERED = 60;

/** What people do with actions, and what admins do with that. */
export function interactionOperations({ roster, random, run, target }: InteractionOperationsOptions) {
  const known: Known[] = [];
  const hidden: Known[] = [];
  const somebody = (): As => ({
    sub: random.pick([...roster.readers, ...roster.publishers, BOSS]),
    roles: ['admin'],
  });
  const some = () => {
    const kind = random.pick(INTERACTION_KINDS);
    return { kind, ...(kind === 'REACTION' ? { reaction: random.pick(DEFAULT_REACTIONS) } : {}) };
  };
  const interact = async (): Promise<void> => {
    const [{ id: actionId, words }, of, as] = [target(), some(), somebody()];
    const data = await run<{ addInteraction: { interaction: { id: string } } }>(
      `${of.kind} of ${words} by ${as.sub}`,
      'mutation($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }',
      { input: { actionId, ...of } },
      as,
    );
    if (data === null) return;
    const { id } = data.addInteraction.interaction;
    known.push({ id, isComment: of.kind === 'COMMENT', words: `${of.kind} of ${words} by ${as.sub}` });
    known.splice(0, Math.max(0, known.length - REMEMBERED));
  };
  const takeBack = async (): Promise<void> => {
    const [{ id: actionId, words }, { kind }, as] = [target(), some(), somebody()];
    await run(
      `${kind} of ${words} by ${as.sub} taken back`,
      'mutation($input: RemoveInteractionInput!) { removeInteraction(input: $input) { isReplay } }',
      { input: { own: { actionId, kind } } },
      as,
    );
  };
  /** Hides one or shows it again. */
  const moderate = async (): Promise<void> => {
    const shown = random.next() < 0.4 ? hidden.pop() : undefined;
    if (shown !== undefined) {
      const document = 'mutation($id: ID!) { unhideInteraction(id: $id) { id } }';
      await run(`unhide ${shown.words}`, document, { id: shown.id }, ADMIN);
      return;
    }
    if (known.length === 0) return;
    const one = random.pick(known);
    await run(
      `hide ${one.words}`,
      'mutation($id: ID!) { hideInteraction(id: $id, reason: "r") { id } }',
      { id: one.id },
      ADMIN,
    );
    hidden.push(one);
  };
  const edit = async (): Promise<void> => {
    const comments = known.filter(({ isComment }) => isComment);
    if (comments.length === 0) return;
    const { id, words } = random.pick(comments);
    const text = `words ${String(random.below(1_000))}`;
    const document = 'mutation($id: ID!, $text: String!) { updateInteraction(id: $id, text: $text) { id } }';
    await run(`${words} edited`, document, { id, text }, ADMIN);
  };
  return { interact, takeBack, moderate, edit };
}
