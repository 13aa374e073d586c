import type { Parts } from './parts.ts';

export const REACTION = '👍';
const HOUR = 3_600_000;

/** What a member left at single items, in comments under comments, and as options of follows. */
export interface FineTraces {
  /** Ids of actions. */
  readonly archived: string;
  readonly snoozed: string;
  readonly read: string;
  readonly unread: string;
  /** Ids of interactions: what they said, their reply to another, what another replied to them, and their reaction. */
  readonly comment: string;
  readonly reply: string;
  readonly answer: string;
  readonly reaction: string;
  /** What they follow as assigned, by types. */
  readonly assignedTo: string;
}

export async function leaveFineTraces(parts: Parts, memberId: string, name: string): Promise<FineTraces> {
  const { services, service } = parts;
  const me = () => parts.session(memberId);
  const actionIds: string[] = [];
  for (let n = 0; n < 4; n++)
    actionIds.push((await parts.publish({ actorId: 'ann', mentions: [memberId] })).action.id);
  await parts.fanOut();
  const [archived = '', snoozed = '', read = '', unread = ''] = actionIds;
  await services.archiveFeedItem(me(), archived);
  await services.snoozeFeedItem(me(), snoozed, new Date(Date.now() + HOUR));
  await services.markItemsRead(me(), [read]);
  await services.markItemsUnread(me(), [unread]);

  const say = async (by: string, text: string, parentId?: string): Promise<string> => {
    const input = { actionId: archived, kind: 'COMMENT', text, parentId: parentId ?? null } as const;
    return (await services.addInteraction(parts.session(by), input)).interaction.id;
  };
  const comment = await say(memberId, `Said by ${name}`);
  const answer = await say('ann', 'The words of ann', comment);
  const reply = await say(memberId, `Replied by ${name}`, await say('ann', 'More of ann'));
  const { interaction } = await services.addInteraction(me(), {
    ...{ actionId: read, kind: 'REACTION', reaction: REACTION },
  });

  const assignedTo = 'assigned-1';
  await services.followMany(service, [
    { followerId: memberId, refId: assignedTo, isAssigned: true, types: ['Custom', 'Posted'] },
  ]);
  await parts.fanOut();
  return { archived, snoozed, read, unread, comment, reply, answer, reaction: interaction.id, assignedTo };
}
