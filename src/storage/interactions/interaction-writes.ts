import { ObjectId, type Document } from 'mongodb';
import { isToggle, type Interaction } from '../../domain/interaction.ts';
import { tenantField } from '../../domain/tenant.ts';
import { clock } from '../../lib/clock.ts';
import { idOfTime } from '../database/database-time.ts';
import type { InteractionDocument } from '../documents/documents.ts';
import type { EventEntries } from '../stages/event-entries.ts';
import { literal } from '../stages/literal.ts';

export interface NewInteraction extends Pick<
  Interaction,
  'actionId' | 'kind' | 'actorId' | 'at' | 'text' | 'reaction' | 'parentId' | 'data'
> {
  /** Unique per action. */
  readonly key: string;
  readonly idempotencyKey: string | null;
  readonly departmentIds: readonly string[];
  /** Followers of the actor receive the action. */
  readonly passesOn: boolean;
}

/** Upper bound on remembered idempotency keys of an interaction that is repeatedly given and taken back. */
const MOST_REPLAY_KEYS = 50;

export function newDocument(
  interaction: NewInteraction,
  settling: ObjectId,
  events: EventEntries,
): InteractionDocument {
  const { actionId, key, actorId, departmentIds, kind, at, text, reaction, parentId, data } = interaction;
  const isKeyed = isToggle(kind) && interaction.idempotencyKey !== null;
  return {
    _id: idOfTime(clock.now()),
    ...{ actionId: new ObjectId(actionId), key, actorId, departmentIds: [...departmentIds] },
    ...tenantField(actorId),
    ...{ kind, at },
    ...(isKeyed ? { replayKeys: [interaction.idempotencyKey] } : {}),
    ...(text === null ? {} : { text }),
    ...(reaction === null ? {} : { reaction }),
    ...(parentId === null ? {} : { parentId: new ObjectId(parentId) }),
    ...(data === null ? {} : { data }),
    ...(interaction.passesOn ? { passedOn: clock.now() } : {}),
    settling,
    ...events.inserted('interaction.recorded', clock.now()),
  };
}

/** Update pipeline fields that restore its former state, unless the key has given it before. */
export function givenAgain(
  { idempotencyKey, passesOn }: NewInteraction,
  token: ObjectId,
  events: EventEntries,
): Document {
  const keys = { $ifNull: ['$replayKeys', []] };
  const isReplay = idempotencyKey === null ? false : { $in: [literal(idempotencyKey), keys] };
  const isAgain = { $and: [{ $eq: ['$state', 'REMOVED'] }, { $not: [isReplay] }] };
  const orAbsent = (field: string): Document => ({ $ifNull: [field, '$$REMOVE'] });
  return {
    state: {
      $cond: [isAgain, { $cond: [{ $eq: ['$wasHidden', true] }, 'HIDDEN', '$$REMOVE'] }, orAbsent('$state')],
    },
    stateAt: { $cond: [isAgain, clock.now(), orAbsent('$stateAt')] },
    wasHidden: { $cond: [isAgain, '$$REMOVE', orAbsent('$wasHidden')] },
    settling: { $cond: [isAgain, token, orAbsent('$settling')] },
    // Its first time is kept. A reshare that did not reach followers then does now, if it may.
    ...(passesOn
      ? { passedOn: { $ifNull: ['$passedOn', { $cond: [isAgain, clock.now(), '$$REMOVE'] }] } }
      : {}),
    ...events.staged('interaction.recorded', clock.now(), isAgain),
    ...(idempotencyKey === null
      ? {}
      : {
          replayKeys: {
            $cond: [
              isReplay,
              keys,
              { $slice: [{ $concatArrays: [keys, [literal(idempotencyKey)]] }, -MOST_REPLAY_KEYS] },
            ],
          },
        }),
  };
}
