import { useQuery } from '@fanfare/react';
import { useState, type ReactNode } from 'react';
import { useSession } from '../session.ts';
import { Time } from './time.tsx';
import { useClient } from './use-client.ts';

const MAILS = `query MailsTo($id: String!) {
  mailState(memberId: $id) { offReason offSince error digestsOffSince } }`;
const RESUME = 'mutation ResumeMails { resumeMails { offReason } }';

const WHY: Readonly<Record<string, string>> = {
  REFUSED: 'The mail server knows no such mailbox.',
  BOUNCED: 'A mail came back for good.',
  COMPLAINED: 'They told their mail provider that a mail was not wanted.',
};

interface MailsData {
  readonly mailState: {
    readonly offReason: string | null;
    readonly offSince: string | null;
    readonly error: string | null;
    readonly digestsOffSince: string | null;
  } | null;
}

/** Why somebody is sent no mails, or no digests. Nothing while all is well, or where the server sends none. */
export function Mails({ id }: { readonly id: string }): ReactNode {
  const client = useClient();
  const isOwn = useSession()?.memberId === id;
  const { data, reload } = useQuery<MailsData>(MAILS, { id });
  const [failure, setFailure] = useState('');
  const { offReason = null, offSince, error, digestsOffSince = null } = data?.mailState ?? {};
  if (offReason === null && digestsOffSince === null) return null;
  const resume = (): void => {
    client.request(RESUME, {}).then(reload, (reason: unknown) => {
      setFailure(reason instanceof Error ? reason.message : String(reason));
    });
  };
  return (
    <section className="card">
      <h2>Mails</h2>
      {offReason !== null && (
        <p>
          <span className="state" data-is="bad">
            None are sent
          </span>{' '}
          {WHY[offReason] ?? offReason} {error != null && <code>{error}</code>}{' '}
          {offSince != null && <Time at={offSince} />}
        </p>
      )}
      {digestsOffSince !== null && (
        <p>
          They have unsubscribed from digests <Time at={digestsOffSince} />
        </p>
      )}
      {isOwn ? (
        <p className="buttons">
          <button type="button" onClick={resume}>
            Send mails again
          </button>
        </p>
      ) : (
        <p className="quiet">
          Another address of theirs ends this, and so do they, in the settings of their notifications.
        </p>
      )}
      {failure !== '' && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
    </section>
  );
}
