import type { Scope, UserId } from './action.ts';
import type { InteractionKind } from './relevancy.ts';
import { cut } from '../lib/cut.ts';

/** The host application's decision about something before it is recorded. */
export type Verdict =
  | { readonly verdict: 'accept' }
  /** Recorded, but hidden until a moderator shows it; it is in the queue of reports. */
  | { readonly verdict: 'hold' }
  /** Not recorded. The caller is given the message. */
  | { readonly verdict: 'refuse'; readonly message: string };

/** A checked action before it is recorded, or as an edit will leave it. Ids are those of the host application. */
export interface PublicationToCheck {
  readonly tenant?: string;
  /** Global id of the action that is edited; `null`: it is new. */
  readonly actionId: string | null;
  /** The publisher or editor: the actor, or a service; an admin. */
  readonly by: UserId;
  readonly actorId: UserId;
  readonly scope: Scope;
  readonly recipients: readonly UserId[];
  readonly mentions: readonly UserId[];
  readonly refs: readonly { readonly id: string; readonly type: string; readonly label: string }[];
  readonly descriptor: Readonly<Record<string, unknown>>;
}

/** A checked interaction before it is recorded, or as an edit will leave it. */
export interface InteractionToCheck {
  readonly tenant?: string;
  /** Global id of the comment that is edited; `null`: it is new. */
  readonly interactionId: string | null;
  readonly by: UserId;
  readonly actorId: UserId;
  /** Global id of the action, and whose it is. */
  readonly actionId: string;
  readonly actionActorId: UserId;
  readonly kind: InteractionKind;
  readonly text: string | null;
  readonly reaction: string | null;
  /** Empty for an edit, which changes the text alone. */
  readonly mentions: readonly UserId[];
  readonly data: unknown;
}

/** Hooks of a host. `null`: there is none. They never reject for want of an answer. */
export interface Hooks {
  readonly beforePublish: Ask<PublicationToCheck> | null;
  readonly beforeInteract: Ask<InteractionToCheck> | null;
}

/** @throws FanfareError UNAVAILABLE if the host does not answer and the setting is `closed` */
export type Ask<T> = (what: T) => Promise<Verdict>;

export const NO_HOOKS: Hooks = { beforePublish: null, beforeInteract: null };

/** Most characters of a message that are passed on. */
const MAX_MESSAGE_LENGTH = 500;

/** The verdict in an answer: nothing means accept. `null`: it makes no sense. */
export function verdictOf(answer: unknown): Verdict | null {
  if (answer === undefined || answer === null || answer === 'accept') return { verdict: 'accept' };
  if (answer === 'hold') return { verdict: 'hold' };
  if (typeof answer !== 'object' || !('verdict' in answer)) return null;
  const { verdict } = answer;
  if (verdict === 'accept' || verdict === 'hold') return { verdict };
  if (verdict !== 'refuse') return null;
  const message = 'message' in answer ? answer.message : undefined;
  return {
    verdict,
    message:
      typeof message === 'string' && message !== ''
        ? cut(message, MAX_MESSAGE_LENGTH)
        : 'The host application refuses this',
  };
}
