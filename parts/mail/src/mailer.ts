import type { MailSender, MailServer } from './settings.ts';

/** A mail as it is handed over. */
export interface Mail {
  readonly to: string;
  /** Without angle brackets. */
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How an attempt ended. `error` names nobody. */
export type MailAnswer =
  | { readonly is: 'taken' }
  /** Refused for good. `isUnknownMailbox`: and so is every mail to this address. */
  | { readonly is: 'refused'; readonly error: string; readonly isUnknownMailbox: boolean }
  /** Refused, but perhaps not the next time, as by greylisting. */
  | { readonly is: 'deferred'; readonly error: string }
  /** The server takes no mails at all. `isUnknown`: it may have taken this one. */
  | { readonly is: 'unanswered'; readonly error: string; readonly isUnknown: boolean };

export interface Mailer {
  /** Resolves within the time limit, and soon after the signal is aborted. */
  send(mail: Mail, signal: AbortSignal): Promise<MailAnswer>;
  close(): void;
}

export interface MailerOptions {
  readonly server: MailServer;
  readonly from: MailSender;
  /** Time limit of a whole attempt. */
  readonly timeoutMs: number;
  /** Upper bound on connections, and on mails at a time. */
  readonly maxConnections: number;
}

/** A connection is closed after so many mails: servers refuse more. */
const MAILS_PER_CONNECTION = 100;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

/** Hands mails over to an SMTP server, by connections that are kept. */
export async function openMailer({
  server,
  from,
  timeoutMs,
  maxConnections,
}: MailerOptions): Promise<Mailer> {
  // Loaded by processes that send mails only.
  const { createTransport } = await import('nodemailer');
  const { host, port, isSecure, login } = server;
  const transport = createTransport({
    ...{ pool: true, maxConnections, maxMessages: MAILS_PER_CONNECTION, maxRequeues: 1 },
    ...{ host, port, secure: isSecure },
    // A password goes over the network only if nobody can read it there. Within the machine nobody can.
    ...(LOOPBACK.test(host) ? { ignoreTLS: true } : { requireTLS: login !== null }),
    ...(login === null ? {} : { auth: login }),
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
    ...{ dnsTimeout: timeoutMs, disableFileAccess: true, disableUrlAccess: true },
  });
  return {
    async send({ to, messageId, subject, text, html, headers }, stopped) {
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]);
      try {
        await transport.sendMail({
          from: { name: from.name ?? '', address: from.address },
          to: { name: '', address: to },
          envelope: { from: from.address, to: [to] },
          messageId: `<${messageId}>`,
          ...{ subject, text, html, headers, signal },
        });
        return { is: 'taken' };
      } catch (error) {
        return answerOf(error);
      }
    },
    close() {
      transport.close();
    },
  };
}

/** An error as the library has them. */
interface SmtpError {
  readonly code?: string;
  /** Of the system, where the library has its own. */
  readonly originalCode?: string;
  readonly command?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

/** Replies to one mail, or to who gets it. Others are about the server or the account. */
const ABOUT_MAIL: ReadonlySet<string> = new Set(['RCPT TO', 'DATA']);
/** The library refuses the mail itself, such as one that is larger than the server takes. */
const REFUSED: ReadonlySet<string> = new Set(['EENVELOPE', 'EMESSAGE', 'ESTREAM']);
/** The connection was never made. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  'EDNS',
  'ETLS',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** Extended codes (RFC 3463) of mailboxes and domains that do not exist, or take nothing any more. */
const NO_MAILBOX = /^5\.(?:1\.(?:[0-3]|6|10)|2\.1)$/;
/** The same, of servers without extended codes (RFC 5321). */
const NO_MAILBOX_PLAIN: ReadonlySet<number> = new Set([550, 551, 553]);

function answerOf(thrown: unknown): MailAnswer {
  const { code = 'FAILED', originalCode = code, command = '', ...reply } = thrown as SmtpError;
  const { responseCode = 0, response = '' } = reply;
  const [extended = ''] = /\b[45]\.\d{1,3}\.\d{1,3}\b/.exec(response) ?? [];
  // Not the text: it often has the address in it.
  const error = responseCode === 0 ? originalCode : `${String(responseCode)} ${extended}`.trim();
  if (responseCode === 0) {
    if (REFUSED.has(code)) return { is: 'refused', error, isUnknownMailbox: false };
    return { is: 'unanswered', error, isUnknown: !NEVER_SENT.has(originalCode) && !NEVER_SENT.has(code) };
  }
  if (!ABOUT_MAIL.has(command)) return { is: 'unanswered', error, isUnknown: false };
  if (responseCode < 500) return { is: 'deferred', error };
  const isUnknownMailbox =
    command === 'RCPT TO' &&
    (extended === '' ? NO_MAILBOX_PLAIN.has(responseCode) : NO_MAILBOX.test(extended));
  return { is: 'refused', error, isUnknownMailbox };
}
