import { createHash } from 'node:crypto';
import { notificationStates } from '../../notifications/src/store/states.ts';
import { ofHost } from '../../../src/descriptors/registry.ts';
import { quietUntil } from '../../../src/domain/quiet-hours.ts';
import { retryDelayMs } from '../../../src/domain/signature.ts';
import type { Job, JobSetup, Round } from '../../../src/jobs/job.ts';
import { clock } from '../../../src/lib/clock.ts';
import { once } from '../../../src/lib/once.ts';
import { within } from '../../../src/lib/within.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { type MailContent, MAILS, type WrittenMail } from './host.ts';
import { logMailBack, logMailFailing, logMailGivenUp, logMailRefused, logMailTemplateFailed } from './log.ts';
import { contentOf } from './compose.ts';
import { type Mail, type Mailer, openMailer } from './mailer.ts';
import { mailMetrics } from './metrics.ts';
import { MAIL, type MailConfig } from './settings.ts';
import { addressDigest, type DueMail, isMailDue, MAILS_APART_MS, mailboxesRepository } from './store.ts';
import { UNSUBSCRIBE_PATH } from './routes.ts';
import { writtenMail } from './template.ts';
import { endSeal, SEAL_SECRET } from './token.ts';

/** After this a mail is given up. */
const KEPT_MS = 3 * 86_400_000;
const MAX_AT_ONCE = 5;
const TIMEOUT_MS = 30_000;
/** Beside the time of an attempt. */
const LEASE_SLACK_MS = 20_000;
/** Attempts in a row without an answer to a mail, after which the server is left alone for a while. */
const RESTS_AFTER = 4;
const REST_MS = 60_000;
/** For a template of the host. */
const TEMPLATE_MS = 2_000;
/** Upper bound on what a template gives, in characters. */
const MAX_WRITTEN = 500_000;

/** Sends mails. None without a mail server. */
export function mails(setup: JobSetup): readonly Job[] {
  const mail = setup.config.of(MAIL);
  if (mail === null) return [];
  const { server, from } = mail;
  return [
    mailJob(setup, mail, {
      timeoutMs: TIMEOUT_MS,
      open: () => openMailer({ server, from, timeoutMs: TIMEOUT_MS, maxConnections: MAX_AT_ONCE }),
    }),
  ];
}

interface MailTransport {
  readonly timeoutMs: number;
  /** Called once, with the first mail. */
  readonly open: () => Promise<Mailer>;
}

/**
 * Sends one mail to each member who is due, a few at a time. A round does not wait for them: a server that does not answer holds their
 * places until the time limit, and then none for a while.
 */
export function mailJob(setup: JobSetup, mail: MailConfig, { timeoutMs, open }: MailTransport): Job {
  const { core, config, logger, metrics, countUnread, topUnread } = setup;
  const mailboxes = mailboxesRepository(core.collections);
  const { mailAttempted } = metrics.of(mailMetrics);
  const leaseMs = timeoutMs + LEASE_SLACK_MS;
  const running = new Set<Promise<void>>();
  const health = new ServerHealth({
    failing: (error) => logMailFailing(logger, { error }),
    back: () => logMailBack(logger, {}),
  });
  let opened: Mailer | null = null;
  const prepared = once(async () => {
    const secret = await core.secrets.shared(SEAL_SECRET);
    opened = await open();
    return { mailer: opened, seal: endSeal(secret) };
  });
  return {
    name: 'mails',
    every: config.fanOut.pollMs,
    due: [{ collection: 'mailboxes', filter: isMailDue }],
    async run(round) {
      const free = health.places() - running.size;
      if (free <= 0) return false;
      const token = newObjectId();
      const claims = await mailboxes.claimDue({ token, now: round.now, leaseMs }, free);
      for (const claim of claims) {
        const end = send(claim, round)
          .catch(async (error: unknown) => {
            await mailboxes.release(claim, later(claim), { error });
            throw error;
          })
          .catch(round.failed)
          .finally(() => {
            running.delete(end);
            round.wake();
          });
        running.add(end);
      }
      return false;
    },
    async close() {
      await Promise.all(running);
      opened?.close();
    },
  };

  async function send(claim: DueMail, { now, signal }: Round): Promise<void> {
    if (now.getTime() - claim.since.getTime() > KEPT_MS) {
      await giveUp(claim, now);
      return;
    }
    const contact = (await core.members.withEmail([claim.id])).get(claim.id);
    const { box, subject } = claim;
    // The address was taken back, or mails to it come back.
    if (contact === undefined || box.off?.address === addressDigest(contact.email)) {
      await empty(claim, now);
      return;
    }
    const state = await notificationStates(core.collections).state(claim.id);
    const until = waitsUntil(claim, state, now);
    if (until !== null) {
      await mailboxes.wait(claim, until);
      return;
    }
    const { mailer, seal } = await prepared();
    const content = await contentOf(
      core,
      {
        ...{ userId: claim.id, contact, state, pending: subject.pending },
        unread: subject.hasDigest && box.digestsOffAt === null ? await countUnread(claim.id) : null,
        topUnread: (most) => topUnread(claim.id, most),
      },
      {
        link: mail.link,
        unsubscribe: (ended) => `${mail.publicUrl}${UNSUBSCRIBE_PATH}?t=${seal.seal(ended, now)}`,
      },
    );
    if (content === null) {
      await empty(claim, now);
      return;
    }
    const answer = await mailer.send(
      {
        ...(await written(content)),
        to: contact.email,
        messageId: messageIdOf(claim, mail),
        headers: headersOf(content),
      },
      signal,
    );
    await ended(claim, contact.email, answer);
  }

  async function ended(
    claim: DueMail,
    email: string,
    answer: Awaited<ReturnType<Mailer['send']>>,
  ): Promise<void> {
    mailAttempted(answer.is);
    health.note(answer.is === 'unanswered' ? answer.error : null);
    const now = clock.now();
    switch (answer.is) {
      case 'taken':
        await mailboxes.settle(claim, { now, sentTo: email });
        return;
      case 'refused':
        logMailRefused(logger, { error: answer.error });
        if (answer.isUnknownMailbox)
          await mailboxes.turnOff([addressDigest(email)], {
            ...{ reason: 'REFUSED', at: now, error: answer.error },
          });
        await mailboxes.settle(claim, { now, failed: answer.error });
        return;
      case 'deferred':
        await mailboxes.retry(claim, later(claim), { error: answer.error, isUnknown: false });
        return;
      case 'unanswered':
        await mailboxes.retry(claim, later(claim), answer);
    }
  }

  async function empty(claim: DueMail, now: Date): Promise<void> {
    mailAttempted('empty');
    await mailboxes.settle(claim, { now });
  }

  async function giveUp(claim: DueMail, now: Date): Promise<void> {
    const error = claim.error ?? 'No attempt was made';
    mailAttempted('given_up');
    logMailGivenUp(logger, { error });
    await mailboxes.settle(claim, { now, failed: error });
  }

  /** By the template of the host, or as the server writes it. */
  async function written(content: MailContent): Promise<WrittenMail> {
    const { name, address } = mail.from;
    const template = ofHost(MAILS).value;
    if (template !== undefined)
      try {
        const given: unknown = await within(TEMPLATE_MS, Promise.resolve(template(content)), null);
        if (isWritten(given)) return given;
        throw new Error(
          given === null
            ? 'It did not answer within 2 s'
            : 'It must give a subject of one line, a text and an HTML text, of at most 500,000 characters',
        );
      } catch (err) {
        logMailTemplateFailed(logger, { err });
      }
    return writtenMail(content, name ?? address.slice(address.lastIndexOf('@') + 1));
  }
}

/** Until when nothing is sent: quiet hours, or the last mail was just sent. `null`: now. */
function waitsUntil(
  { box }: DueMail,
  { quietHours }: Awaited<ReturnType<ReturnType<typeof notificationStates>['state']>>,
  now: Date,
): Date | null {
  const apart = box.sentAt === null ? 0 : box.sentAt.getTime() + MAILS_APART_MS;
  if (apart > now.getTime()) return new Date(apart);
  return quietHours === null ? null : quietUntil(quietHours, now);
}

function isWritten(given: unknown): given is WrittenMail {
  if (typeof given !== 'object' || given === null) return false;
  const { subject, text, html } = given as Readonly<Record<string, unknown>>;
  return (
    [subject, text, html].every((one) => typeof one === 'string' && one.length <= MAX_WRITTEN) &&
    /^[^\p{Cc}\u2028\u2029]{1,1000}$/u.test(String(subject))
  );
}

/** The same for a mail that is sent again, and of nobody who does not know the event. */
function messageIdOf({ id, subject }: DueMail, { from }: MailConfig): Mail['messageId'] {
  const digest = createHash('sha256')
    .update(JSON.stringify([id, subject.eventId]))
    .digest('base64url');
  return `${digest}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`;
}

function headersOf({ unsubscribe, locale }: MailContent): Mail['headers'] {
  return {
    // Nobody answers it, not even a program that is on holiday.
    'Auto-Submitted': 'auto-generated',
    'Content-Language': locale,
    ...(unsubscribe === null || unsubscribe.length > MAX_HEADER
      ? {}
      : { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
  };
}

/** A line of a header must not be longer than 998 characters. */
const MAX_HEADER = 900;

/** Counted from the end of the attempt. */
function later({ attempts }: DueMail): Date {
  return new Date(clock.time() + retryDelayMs(attempts, Math.random()));
}

/** Whether the mail server takes mails, as this process has seen. */
class ServerHealth {
  readonly #observer: { failing(error: string): void; back(): void };
  #unanswered = 0;
  /** Milliseconds since the epoch. */
  #restsUntil = 0;

  constructor(observer: { failing(error: string): void; back(): void }) {
    this.#observer = observer;
  }

  /** How many mails may be sent at a time. After a rest one says whether the server is back. */
  places(): number {
    if (clock.time() < this.#restsUntil) return 0;
    return this.#unanswered >= RESTS_AFTER ? 1 : MAX_AT_ONCE;
  }

  /** @param error `null`: the server has answered. */
  note(error: string | null): void {
    if (error === null) {
      if (this.#unanswered >= RESTS_AFTER) this.#observer.back();
      this.#unanswered = 0;
      return;
    }
    this.#unanswered += 1;
    if (this.#unanswered < RESTS_AFTER) return;
    this.#restsUntil = clock.time() + REST_MS;
    if (this.#unanswered === RESTS_AFTER) this.#observer.failing(error);
  }
}
