import { createFeedClient } from '@fanfare/client';
import type { Person } from './people.ts';

const KNOWN = 'query Known($id: String!) { member(memberId: $id) { memberId } }';
const NAME = 'mutation Name($members: [MemberInput!]!) { upsertMembers(members: $members) }';

/** Names the people where the demo of the command line has not. Rejects with a FeedClientError. */
export async function prepare(token: string, people: readonly Person[]): Promise<void> {
  const [first] = people;
  if (token === '' || first === undefined) return;
  const client = createFeedClient({ url: '/graphql', token });
  const { member } = await client.request<{ readonly member: object | null }>(KNOWN, { id: first.memberId });
  if (member !== null) return;
  await client.request(NAME, { members: people.map(({ memberId, name }) => ({ memberId, name })) });
}
