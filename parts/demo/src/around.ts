import type { CommandContext } from '../../../src/app/command-shapes.ts';
import type { ApiClient } from '../../../src/cli/api-client.ts';
import type { PublishActionInput } from '../../../src/core/shapes.ts';
import { APPLICANTS, applicantRef, MARY, POSTS, postRef, READER } from './people.ts';

/** Of a server that the demo starts, unless the host has a configuration. */
export const DEMO_CONFIG: NonNullable<CommandContext['hostConfig']> = {
  views: {
    forMe: {
      label: { en: 'For me', de: 'Für mich' },
      filter: { reasons: ['MENTION', 'RECIPIENT'] },
      ownReadMark: true,
    },
    hiring: {
      label: { en: 'Hiring', de: 'Einstellungen' },
      filter: { types: ['NewApplicant', 'ApplicationRating', 'ApplicantRatingRequested', 'ApplicantHired'] },
    },
    hot: {
      label: { en: 'Hot', de: 'Beliebt' },
      order: { rank: 'likes * 3.0 + comments * 5.0 - ageHours' },
      window: '7d',
    },
  },
};

const NAME = 'Applicants';
const LISTED = [MARY, ...APPLICANTS].map(({ applicantId }) => applicantId);

/** A thread under the last action of the story. */
const COMMENTS = [
  { actorId: 'john', text: 'Well deserved. When does she start?' },
  { actorId: 'rita', text: 'On the first of next month, on the second floor.' },
];

const MINE = '{ viewer { memberId lists { name } } }';
const MAKE_LIST = 'mutation DemoList($name: String!) { createList(name: $name) { id } }';
const ADD_TO_LIST =
  'mutation DemoListed($id: ID!, $refIds: [String!]!) { addToList(id: $id, refIds: $refIds) { id } }';
const COMMENT =
  'mutation DemoComment($input: RecordInteractionInput!) { addInteraction(input: $input) { isReplay } }';

/**
 * What there is around a feed: a thread, and a list of the reader. Playing it again changes nothing.
 * @param own of the reader
 */
export async function playAround(client: ApiClient, own: ApiClient, actionId: string): Promise<void> {
  for (const [index, { actorId, text }] of COMMENTS.entries()) {
    const idempotencyKey = `demo:comment:${String(index)}`;
    await client.run(COMMENT, { input: { actionId, kind: 'COMMENT', actorId, text, idempotencyKey } });
  }
  interface Mine {
    readonly viewer: { readonly memberId: string; readonly lists: readonly { readonly name: string }[] };
  }
  const { viewer } = await own.run<Mine>(MINE, {});
  // A token that was given may be somebody else's.
  if (viewer.memberId !== READER || viewer.lists.some(({ name }) => name === NAME)) return;
  const { createList } = await own.run<{ readonly createList: { readonly id: string } }>(MAKE_LIST, {
    name: NAME,
  });
  await own.run(ADD_TO_LIST, { id: createList.id, refIds: LISTED });
}

const LATER_MS = 60_000;

/** Something that is published in a minute. */
export function scheduledAction(run: string, now: Date): PublishActionInput {
  const [post] = POSTS.slice(-1);
  if (post === undefined) throw new Error('The demo has no posts');
  return {
    ...{ actorId: 'sue', scope: 'PUBLIC', refs: [applicantRef(MARY), postRef(post)] },
    descriptor: { posted: { ...post, text: 'Mary joins us today. Come and say hello.' } },
    publishAt: new Date(now.getTime() + LATER_MS),
    idempotencyKey: `demo:later:${run}`,
  };
}
