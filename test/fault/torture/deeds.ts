import { clock } from '../../../src/lib/clock.ts';
import type { ActionId } from '../../../src/domain/action.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import { INTERACTION_KINDS } from '../../../src/domain/relevancy.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { World } from './world.ts';

/** The latest actions that deeds are about. */
const REMEMBERED = 200;
const TEAMS = ['team-1', 'team-2', null];

/** What happens in a world, one thing at a call. */
export type Deed = () => Promise<void>;

/** @param journal what is done to which action or by which reader is written down here, before it is done */
export function deedsIn({ app, readers, actors }: World, random: SeededRandom, journal: string[]): Deed {
  const service = app.identity('importer', 'service');
  const actions: ActionId[] = [];
  const hidden: ActionId[] = [];

  const publish: Deed = async () => {
    const actorId = random.pick(actors);
    const { action } = await app.services.publishAction(service, {
      actorId,
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
    });
    journal.push(`publish ${action.id} by ${actorId}`);
    actions.push(action.id);
    if (actions.length > REMEMBERED) actions.shift();
  };
  const interact: Deed = async () => {
    const [reader, id, kind] = [random.pick(readers), random.pick(actions), random.pick(INTERACTION_KINDS)];
    journal.push(`${kind} ${id} by ${reader}`);
    const reaction = kind === 'REACTION' ? '👍' : null;
    await app.services.addInteraction(app.session(reader, 'admin'), { actionId: id, kind, reaction });
  };
  const takeBack: Deed = async () => {
    const [reader, id, kind] = [random.pick(readers), random.pick(actions), random.pick(INTERACTION_KINDS)];
    journal.push(`${kind} ${id} by ${reader} taken back`);
    const own = { actionId: id, kind };
    await app.services.removeInteraction(app.session(reader, 'admin'), { own });
  };
  const hide: Deed = async () => {
    const id = random.pick(actions);
    journal.push(`hide ${id}`);
    await app.services.hideAction(app.session('admin', 'admin'), id, 'Because');
    hidden.push(id);
  };
  const unhide: Deed = async () => {
    const id = hidden.pop();
    if (id === undefined) return;
    journal.push(`unhide ${id}`);
    await app.services.unhideAction(app.session('admin', 'admin'), id);
  };
  const remove: Deed = async () => {
    const id = random.pick(actions);
    journal.push(`delete ${id}`);
    await app.services.deleteAction(app.session('admin', 'admin'), id);
  };
  const hideOwn: Deed = async () => {
    const [reader, id] = [random.pick(readers), random.pick(actions)];
    journal.push(`hide for oneself ${id} by ${reader}`);
    await app.services.hideFeedItem(app.session(reader), id);
  };
  const unfollow: Deed = async () => {
    const [reader, actor, keepHistory] = [random.pick(readers), random.pick(actors), random.next() < 0.3];
    journal.push(`unfollow ${actor} by ${reader}, history kept: ${String(keepHistory)}`);
    await app.services.unfollow(app.session(reader), actor, keepHistory);
  };
  const follow: Deed = async () => {
    const most = random.next() < 0.2 ? 1_001 : 4;
    const [reader, actor, copyLimit] = [random.pick(readers), random.pick(actors), random.below(most)];
    journal.push(`follow ${actor} by ${reader} with ${String(copyLimit)}`);
    await app.services.follow(app.session(reader), actor, copyLimit);
  };
  const mute: Deed = async () => {
    const [reader, actor, isMute] = [random.pick(readers), random.pick(actors), random.next() < 0.5];
    journal.push(`${isMute ? 'mute' : 'unmute'} ${actor} by ${reader}`);
    if (isMute) await app.services.addMute(app.session(reader), { memberId: actor });
    else await app.services.removeMute(app.session(reader), { memberId: actor });
  };
  const unhideOwn: Deed = async () => {
    const [reader, id] = [random.pick(readers), random.pick(actions)];
    journal.push(`show to oneself ${id} by ${reader}`);
    await app.services.unhideFeedItem(app.session(reader), id);
  };
  /** Of the reader alone, or of an actor, too: departments decide how far comments boost. */
  const move: Deed = async () => {
    const memberId = random.next() < 0.7 ? random.pick(readers) : random.pick(actors);
    const teamId = random.pick(TEAMS);
    journal.push(`move ${memberId} to ${String(teamId)}`);
    await app.services.upsertMembers(service, [
      { memberId, name: memberId, teamId, departmentId: teamId, supervisorId: random.pick(readers) },
    ]);
  };
  const publishToTeam: Deed = async () => {
    const actorId = random.pick(readers);
    await app.services.upsertMembers(service, [{ memberId: actorId, name: actorId, teamId: 'team-1' }]);
    const { action } = await app.services.publishAction(service, {
      actorId,
      scope: 'TEAM',
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
    });
    journal.push(`publish ${action.id} by ${actorId} to a team`);
    actions.push(action.id);
  };
  const markRead: Deed = async () => {
    await app.services.markFeedRead(app.session(random.pick(readers)), clock.now());
  };
  const deeds: readonly (readonly [number, Deed])[] = [
    [0.22, interact],
    [0.26, hide],
    [0.29, unhide],
    [0.31, remove],
    [0.35, hideOwn],
    [0.37, unfollow],
    [0.39, follow],
    [0.41, markRead],
    [0.43, mute],
    [0.45, unhideOwn],
    [0.46, move],
    [0.49, publishToTeam],
    [0.52, takeBack],
  ];
  return async () => {
    const chance = random.next();
    const [, deed] = deeds.find(([below]) => chance < below && actions.length > 0) ?? [1, publish];
    try {
      await deed();
    } catch (error) {
      // Of an action that has been deleted or hidden from the reader meanwhile.
      if (!(error instanceof FanfareError) || error.code !== 'NOT_FOUND') throw error;
    }
  };
}
