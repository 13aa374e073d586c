import { Summary, useQuery, type SummaryPart } from '@fanfare/react';
import { CommentThread } from '@fanfare/react/more';
import { useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import type { Session } from '../session.ts';
import { AsCode } from '../ui/as-code.tsx';
import { counted } from '../ui/count.ts';
import { FirstOf } from '../ui/first-of.tsx';
import { Reached } from '../ui/reached.tsx';
import { liftsOf, type Why } from '../ui/reasons.tsx';
import { States } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useEvery } from '../ui/use-every.ts';
import { hrefOfPart } from './feed.tsx';

const ACTION = `query ConsoleAction($id: ID!) { node(id: $id) { ... on Action {
  id conducted editedAt expiresAt scope version isHidden
  actor { memberId name } refs { refId type label }
  descriptor { type summary tags summaryParts { text member { memberId } ref { refId } } }
  engagement { comments likes reshares lastInteraction reactions { reaction count } }
} } }`;

const EXPLAIN = `query Explain($actionId: ID!, $memberId: String) {
  explainFeedItem(actionId: $actionId, memberId: $memberId) {
    isInFeed isEntitled path relevancy
    addressedBy { reason via since until } withheldBy causes { kind at liftedTo }
  }
}`;

const LOG = `query LogOfAction($id: ID!) {
  moderationLog(first: 50, actionId: $id) { edges { node { at by kind reason } } } }`;

interface ModerationLog {
  readonly moderationLog: {
    readonly edges: readonly {
      readonly node: {
        readonly at: string;
        readonly by: string;
        readonly kind: string;
        readonly reason: string | null;
      };
    }[];
  };
}

interface ActionData {
  readonly node: {
    readonly id: string;
    readonly conducted: string;
    readonly editedAt: string | null;
    readonly expiresAt: string | null;
    readonly scope: string;
    readonly version: number;
    readonly isHidden: boolean;
    readonly refs: readonly { readonly refId: string; readonly type: string; readonly label: string }[];
    readonly descriptor: {
      readonly type: string;
      readonly summary: string;
      readonly tags: readonly string[];
      readonly summaryParts: readonly SummaryPart[];
    };
    readonly engagement: {
      readonly comments: number;
      readonly likes: number;
      readonly reshares: number;
      readonly lastInteraction: string | null;
      readonly reactions: readonly { readonly reaction: string; readonly count: number }[];
    };
  } | null;
}

/** One action: what it says, how its fan-out moves, why it is in a feed, what people say to it. */
export function ActionScreen({ id, session }: { readonly id: string; readonly session: Session }): ReactNode {
  const { data, error, isLoading, reload } = useQuery<ActionData>(ACTION, { id });
  const action = data?.node ?? null;
  useEvery(5_000, reload);
  return (
    <>
      <h1>Action</h1>
      <States
        {...{ isLoading, error }}
        isEmpty={action === null}
        empty="There is no such action, or you may not see it."
        onRetry={reload}
      >
        {action !== null && (
          <>
            <section className="card">
              <Summary item={{ action: action as never }} hrefOf={hrefOfPart} />
              <p className="meta">
                <Time at={action.conducted} />
                <span>{action.descriptor.type}</span>
                <span>{action.scope}</span>
                {action.editedAt !== null && (
                  <span>
                    version {action.version}, edited <Time at={action.editedAt} />
                  </span>
                )}
                {action.expiresAt !== null && (
                  <span>
                    expires <Time at={action.expiresAt} />
                  </span>
                )}
                {action.isHidden && <strong>hidden</strong>}
                <FirstOf noun="refs">
                  {action.refs.map(({ refId, label }) => (
                    <a key={refId} href={hrefTo('slice', refId)} dir="auto">
                      {label}
                    </a>
                  ))}
                </FirstOf>
              </p>
            </section>
            <Engagement of={action.engagement} />
            <Reached actionId={action.id} />
            <Explain actionId={action.id} session={session} />
            {session.roles.includes('admin') && <LogOfAction id={action.id} />}
            <section className="card">
              <h2>Comments</h2>
              <CommentThread actionId={action.id} />
            </section>
          </>
        )}
      </States>
      <AsCode query={ACTION} variables={{ id }} />
    </>
  );
}

function Engagement({
  of: { likes, comments, reshares, reactions, lastInteraction },
}: {
  readonly of: NonNullable<ActionData['node']>['engagement'];
}): ReactNode {
  const counts = [
    counted(likes, 'like'),
    counted(comments, 'comment'),
    counted(reshares, 'reshare'),
    ...reactions.map(({ reaction, count }) => counted(count, reaction, reaction)),
  ];
  return (
    <section className="card">
      <h2>Interactions</h2>
      <p className="meta">
        {counts.map((text) => (
          <span key={text}>{text}</span>
        ))}
        {lastInteraction !== null && (
          <span>
            the last <Time at={lastInteraction} />
          </span>
        )}
      </p>
    </section>
  );
}

function LogOfAction({ id }: { readonly id: string }): ReactNode {
  const { data, error, isLoading, reload } = useQuery<ModerationLog>(LOG, { id });
  useEvery(5_000, reload);
  const entries = data?.moderationLog.edges ?? [];
  return (
    <section className="card">
      <h2>Log</h2>
      <States
        {...{ isLoading, error }}
        isEmpty={entries.length === 0}
        empty="Nobody has moderated it."
        onRetry={reload}
      >
        <ul className="plain">
          {entries.map(({ node }, at) => (
            <li key={at}>
              {node.kind} by {node.by} <Time at={node.at} /> <span className="quiet">{node.reason}</span>
            </li>
          ))}
        </ul>
      </States>
    </section>
  );
}

interface Explanation {
  readonly explainFeedItem: Why;
}

interface ExplainProps {
  readonly actionId: string;
  readonly session: Session;
}

function Explain({ actionId, session }: ExplainProps): ReactNode {
  const [memberId, setMember] = useState(session.memberId);
  const asked = memberId === session.memberId ? null : memberId;
  const { data, error, isLoading, reload } = useQuery<Explanation>(EXPLAIN, { actionId, memberId: asked });
  useEvery(2_000, reload);
  const why = data?.explainFeedItem;
  return (
    <section className="card">
      <h2>Why it is in a feed, or not</h2>
      {session.roles.includes('admin') && (
        <label>
          Feed of
          <input
            defaultValue={memberId}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
              setMember(event.currentTarget.value.trim() || session.memberId);
            }}
            onBlur={(event) => setMember(event.currentTarget.value.trim() || session.memberId)}
          />
        </label>
      )}
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        {why !== undefined && (
          <dl>
            <dt>{why.isInFeed ? 'It is in this feed' : 'It is not in this feed'}</dt>
            <dd>
              {why.addressedBy.length === 0
                ? 'Nothing addresses it to this reader.'
                : why.addressedBy
                    .map(({ reason, via }) => `${reason}${via === null ? '' : ` via ${via}`}`)
                    .join(', ')}
            </dd>
            {why.withheldBy.length > 0 && (
              <>
                <dt>Kept out by</dt>
                <dd>{why.withheldBy.join(', ')}</dd>
              </>
            )}
            {liftsOf(why).length > 0 && (
              <>
                <dt>Lifted by</dt>
                <dd>{liftsOf(why).join(', ')}</dd>
              </>
            )}
          </dl>
        )}
      </States>
    </section>
  );
}
