import '../later.css';
import { useQuery } from '@fanfare/react';
import { useLanguage } from '@fanfare/react/more';
import { BellRing } from 'lucide-react';
import type { ReactNode } from 'react';
import { goTo, hrefTo, useRoute } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { PersonTabs } from '../ui/person.tsx';
import { States, Teach } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { t } from '../words/language.ts';
import { titled } from '../ui/words.ts';

const KINDS = ['COMMENT', 'REPLY', 'MENTION', 'LIKE', 'REACTION', 'RESHARE', 'OWN', 'FOLLOW'] as const;
const RECENT = `query RecentOf($first: Int!) { actions(first: $first, includeHidden: true) {
  edges { node { id descriptor { summary } } } } }`;
const ASKED = 'isListed at isSeen isRead withheldBy preferences { channel isOn isLocked }';
/** One query: each kind is explained on its own. Follows have no action. */
const WHY = `query WhyNotified($member: String!, $action: ID!) { ${KINDS.map((kind) =>
  kind === 'FOLLOW'
    ? `FOLLOW: explainNotification(kind: FOLLOW, memberId: $member) { ${ASKED} }`
    : `${kind}: explainNotification(actionId: $action, kind: ${kind}, memberId: $member) { ${ASKED} }`,
).join('\n')} }`;

const WITHHELD: Readonly<Record<string, string>> = {
  KEPT_AWAY: 'they mute everybody who did it',
  NOT_VISIBLE: 'they may not see the action, or it is hidden or gone',
  NO_EVENT: 'nothing of this kind has happened, or it was taken back',
  OUT_OF_WINDOW: 'it was more than 90 days ago',
  SWITCHED_OFF: 'it is switched off',
};

interface Explained {
  readonly isListed: boolean;
  readonly at: string | null;
  readonly isSeen: boolean | null;
  readonly isRead: boolean | null;
  readonly withheldBy: readonly string[];
  readonly preferences: readonly {
    readonly channel: string;
    readonly isOn: boolean;
    readonly isLocked: boolean;
  }[];
}
interface Recent {
  readonly actions: {
    readonly edges: readonly {
      readonly node: { readonly id: string; readonly descriptor: { readonly summary: string } };
    }[];
  };
}

/** Why somebody was notified of something or not: for each kind of event about an action. Assignments are always listed. */
export function NotifiedScreen({ id }: { readonly id: string }): ReactNode {
  const action = useRoute().query.get('action') ?? '';
  const language = useLanguage();
  const recent = useQuery<Recent>(RECENT, { first: 50 });
  return (
    <>
      <PersonTabs id={id} />
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget).get('action') as string;
          goTo('notified', id, { action: given.trim() });
        }}
      >
        <label>
          Of the action
          <input
            key={action}
            name="action"
            list="recent-actions"
            placeholder="Global id"
            defaultValue={action}
            required
          />
        </label>
        <datalist id="recent-actions">
          {recent.data?.actions.edges.map(({ node }) => (
            <option key={node.id} value={node.id} lang={language} dir="auto">
              {node.descriptor.summary}
            </option>
          ))}
        </datalist>
        <button type="submit">Look</button>
      </form>
      {action === '' ? (
        <div className="empty">
          <Teach icon={BellRing} title={`Why was ${id} not notified?`}>
            Choose an action: each kind of event about it is listed here, and beside it whether it is in the
            notifications of <bdi>{id}</bdi>, and if not, why.
          </Teach>
        </div>
      ) : (
        <Kinds {...{ id, action }} />
      )}
    </>
  );
}

function Kinds({ id, action }: { readonly id: string; readonly action: string }): ReactNode {
  const variables = { member: id, action };
  const { data, error, isLoading, reload } = useQuery<Readonly<Record<string, Explained>>>(WHY, variables);
  return (
    <>
      <States {...{ isLoading, error }} isEmpty={data === undefined} empty="" onRetry={reload}>
        <section className="card">
          <h2>
            Of <a href={hrefTo('action', action)}>this action</a>
          </h2>
          <div className="scroll" tabIndex={0} role="region" aria-label="Kinds of events">
            <table>
              <thead>
                <tr>
                  <th scope="col">Event</th>
                  <th scope="col">Notified</th>
                  <th scope="col">Why not</th>
                  <th scope="col">Channels</th>
                </tr>
              </thead>
              <tbody>
                {KINDS.flatMap((kind) => {
                  const why = data?.[kind];
                  return why === undefined ? [] : [<Row key={kind} {...{ kind, why }} />];
                })}
              </tbody>
            </table>
          </div>
        </section>
      </States>
      <AsCode query={WHY} variables={variables} />
    </>
  );
}

function Row({ kind, why }: { readonly kind: string; readonly why: Explained }): ReactNode {
  const { isListed, at, isSeen, isRead, withheldBy, preferences } = why;
  const on = preferences.filter((one) => one.isOn);
  return (
    <tr>
      <th scope="row" dir="auto">
        {titled(kind)}
      </th>
      <td>
        <span className="state" data-is={isListed ? 'good' : 'bad'}>
          {isListed ? 'Yes' : 'No'}
        </span>{' '}
        {at !== null && <Time at={at} />}{' '}
        {isListed && (
          <span className="quiet">{isRead === true ? 'read' : isSeen === true ? 'seen' : 'not seen'}</span>
        )}
      </td>
      <td>
        {withheldBy.map((word) => (
          <span key={word} title={word}>
            {WITHHELD[word] ?? word}{' '}
          </span>
        ))}
      </td>
      <td>
        {on.length === 0
          ? 'none'
          : on
              .map(({ channel, isLocked }) => t(titled(channel)) + (isLocked ? ` ${t('(by the host)')}` : ''))
              .join(', ')}
      </td>
    </tr>
  );
}
