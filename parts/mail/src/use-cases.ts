import type { Core } from '../../../src/core/core.ts';
import { requireOneOf, validate } from '../../../src/core/validate.ts';
import { idSchema } from '../../../src/descriptors/id-schema.ts';
import type { UserId } from '../../../src/domain/action.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { addressDigest, type Mailbox, mailboxesRepository } from './store.ts';

declare module '../../../src/core/core.ts' {
  interface Core {
    /** Whether the server sends mails. */
    readonly sendsMails?: boolean;
  }
}

/** How mails to a member stand. */
export interface MailState extends Omit<Mailbox, 'off'> {
  readonly hasAddress: boolean;
  /** Why none are sent to the address of now; `null`: some are. */
  readonly off: Mailbox['off'];
}

/** `null`: the server sends no mails. Two reads. */
export async function mailStateOf(core: Core, userId: UserId): Promise<MailState | null> {
  if (core.sendsMails !== true) return null;
  const [contacts, box] = await Promise.all([
    core.members.withEmail([userId]),
    mailboxesRepository(core.collections).find(userId),
  ]);
  const email = contacts.get(userId)?.email;
  const isOff = email !== undefined && box.off?.address === addressDigest(email);
  return { ...box, hasAddress: email !== undefined, off: isOff ? box.off : null };
}

/** The same of any member. @throws FanfareError FORBIDDEN, BAD_USER_INPUT */
export async function readMailState(
  core: Core,
  identity: Identity,
  memberId: UserId,
): Promise<MailState | null> {
  requireOneOf(identity, ['admin', 'service']);
  return mailStateOf(core, validate(idSchema, memberId, ['memberId']));
}

/** Mails are sent again, also digests. */
export async function resumeMails(core: Core, { userId }: Identity): Promise<MailState | null> {
  await mailboxesRepository(core.collections).resume(userId);
  return mailStateOf(core, userId);
}
