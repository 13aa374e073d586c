import { createFeedClient } from '@fanfare/client';
import type { Person } from './people.ts';

const KNOWN = 'query Known($id: String!) { member(memberId: $id) { memberId } }';
const NAME = 'mutation Name($members: [MemberInput!]!) { upsertMembers(members: $members) }';

/** Names those of the people whom nobody has described. Rejects with a FeedClientError. */
export async function prepare(token: string, people: readonly Person[]): Promise<void> {
  if (token === '') return;
  const client = createFeedClient({ url: '/graphql', token });
  const found = await Promise.all(
    people.map(({ memberId }) => client.request<{ readonly member: object | null }>(KNOWN, { id: memberId })),
  );
  const members = people
    .filter((_, at) => found[at]?.member === null)
    .map(({ memberId, name }) => ({ memberId, name }));
  if (members.length > 0) await client.request(NAME, { members });
}
