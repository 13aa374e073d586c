import '../later.css';
import { useQuery, type SummaryPart } from '@fanfare/react';
import { useLanguage } from '@fanfare/react/more';
import { Bookmark, Eye, EyeOff, Heart, Repeat2, Trash2, type LucideIcon } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { goTo, hrefTo } from '../route.ts';
import type { Session } from '../session.ts';
import { AsCode } from '../ui/as-code.tsx';
import { ConfirmDialog } from '../ui/confirm.tsx';
import { counted } from '../ui/count.ts';
import { isPerson } from '../ui/directory.ts';
import { Entry } from '../ui/entry.tsx';
import { FirstOf } from '../ui/first-of.tsx';
import { Picker } from '../ui/picker.tsx';
import { Reached } from '../ui/reached.tsx';
import { Reasons, WHY, type Why } from '../ui/reasons.tsx';
import { useSaid } from '../ui/said.ts';
import { States } from '../ui/states.tsx';
import { Thread } from '../ui/thread.tsx';
import { Time } from '../ui/time.tsx';
import { useClient } from '../ui/use-client.ts';
import { useEvery } from '../ui/use-every.ts';
import { titled, wordFor } from '../ui/words.ts';

const ACTION = `query ConsoleAction($id: ID!) { node(id: $id) { ... on Action {
  id conducted editedAt expiresAt scope version isHidden
  actor { memberId name } refs { refId type label }
  descriptor { type summary tags summaryParts { text member { memberId } ref { refId } } }
  engagement { comments likes reshares lastInteraction reactions { reaction count } }
  viewer { hasLiked hasReshared isBookmarked canDelete }
} } }`;
const HIDE = 'mutation Hide($id: ID!) { hideAction(id: $id) { id } }';
const SHOW = 'mutation Unhide($id: ID!) { unhideAction(id: $id) { id } }';

const EXPLAIN = `query Explain($actionId: ID!, $memberId: String) {
  explainFeedItem(actionId: $actionId, memberId: $memberId) { ${WHY} } }`;

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
    readonly actor: { readonly memberId: string; readonly name: string };
    readonly viewer: {
      readonly hasLiked: boolean;
      readonly hasReshared: boolean;
      readonly isBookmarked: boolean;
      readonly canDelete: boolean;
    };
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
  const said = useSaid(action);
  const [failure, setFailure] = useState('');
  return (
    <>
      <States
        isLoading={isLoading || said === undefined}
        error={error}
        isEmpty={action === null}
        empty="There is no such action, or you may not see it."
        onRetry={reload}
      >
        {action !== null && (
          <>
            <section className="card">
              <Entry
                action={action}
                buttons={<Buttons {...{ action, session, reload }} onError={setFailure} />}
                meta={<Facts action={action} />}
              />
              {failure !== '' && (
                <p role="alert" className="alert">
                  {failure}
                </p>
              )}
            </section>
            <Reached actionId={action.id} />
            <div className="columns">
              <section className="card">
                <h2>Comments</h2>
                <Thread actionId={action.id} />
              </section>
              <Explain action={action} session={session} />
            </div>
            {session.roles.includes('admin') && <LogOfAction id={action.id} />}
          </>
        )}
      </States>
      <AsCode query={ACTION} variables={{ id }} />
    </>
  );
}

type ShownAction = NonNullable<ActionData['node']>;

function Facts({ action }: { readonly action: ShownAction }): ReactNode {
  const { descriptor, scope, editedAt, expiresAt, isHidden, version, refs, engagement } = action;
  const counts = [
    ...(
      [
        ['like', engagement.likes],
        ['comment', engagement.comments],
        ['reshare', engagement.reshares],
      ] as const
    ).flatMap(([noun, count]) => (count === 0 ? [] : [counted(count, noun)])),
    ...engagement.reactions.map(({ reaction, count }) => counted(count, reaction, reaction)),
  ];
  return (
    <>
      {isHidden && <strong>hidden</strong>}
      {counts.map((text) => (
        <span key={text}>{text}</span>
      ))}
      <span dir="auto">{titled(descriptor.type)}</span>
      <span>for {wordFor(scope)}</span>
      {editedAt !== null && (
        <span>
          version {version}, edited <Time at={editedAt} />
        </span>
      )}
      {expiresAt !== null && (
        <span>
          expires <Time at={expiresAt} />
        </span>
      )}
      <FirstOf noun="refs">
        {refs.map(({ refId, label }) => (
          <a key={refId} className="chip" href={hrefTo('slice', refId)} dir="auto">
            {label}
          </a>
        ))}
      </FirstOf>
    </>
  );
}

interface ButtonsProps {
  readonly action: ShownAction;
  readonly session: Session;
  readonly reload: () => void;
  readonly onError: (message: string) => void;
}

/** What one may do with it: as a reader, and as an administrator. */
function Buttons({ action, session, reload, onError }: ButtonsProps): ReactNode {
  const { request, mutations } = useClient();
  const [isAsking, setAsking] = useState(false);
  const language = useLanguage();
  const { id, viewer, engagement, isHidden, descriptor } = action;
  const isAdmin = session.roles.includes('admin');
  const act = (change: () => Promise<unknown>) => (): void => {
    onError('');
    change().then(reload, (error: unknown) =>
      onError(error instanceof Error ? error.message : String(error)),
    );
  };
  const interact = (kind: 'LIKE' | 'RESHARE', isGiven: boolean) =>
    act(() =>
      isGiven
        ? mutations.removeInteraction({ input: { own: { actionId: id, kind } } })
        : mutations.addInteraction({ input: { actionId: id, kind } }),
    );
  const { hasLiked, hasReshared, isBookmarked } = viewer;
  return (
    <div className="quiet-buttons">
      <QuietButton
        {...{ icon: Heart, label: 'Like', count: engagement.likes, isOn: hasLiked }}
        onClick={interact('LIKE', hasLiked)}
      />
      <QuietButton
        {...{ icon: Repeat2, label: 'Reshare', count: engagement.reshares, isOn: hasReshared }}
        onClick={interact('RESHARE', hasReshared)}
      />
      <QuietButton
        {...{ icon: Bookmark, label: 'Bookmark', isOn: isBookmarked }}
        onClick={act(() => (isBookmarked ? mutations.unbookmark : mutations.bookmark)({ actionId: id }))}
      />
      {isAdmin && (
        <QuietButton
          {...(isHidden
            ? { icon: Eye, label: 'Show to everybody again' }
            : { icon: EyeOff, label: 'Hide from everybody' })}
          onClick={act(() => request(isHidden ? SHOW : HIDE, { id }))}
        />
      )}
      {(isAdmin || viewer.canDelete) && (
        <QuietButton {...{ icon: Trash2, label: 'Delete …' }} onClick={() => setAsking(true)} />
      )}
      <ConfirmDialog
        isOpen={isAsking}
        isDangerous
        title="Delete this for good?"
        confirm="Delete"
        onConfirm={() => {
          setAsking(false);
          void mutations.deleteAction({ id }).then(
            () => goTo('feed'),
            (error: unknown) => onError(String(error)),
          );
        }}
        onClose={() => setAsking(false)}
      >
        <p lang={language} dir="auto">
          {descriptor.summary}
        </p>
      </ConfirmDialog>
    </div>
  );
}

function LogOfAction({ id }: { readonly id: string }): ReactNode {
  const { data, error, isLoading, reload } = useQuery<ModerationLog>(LOG, { id });
  useEvery(5_000, reload);
  const entries = data?.moderationLog.edges ?? [];
  if (error === null && entries.length === 0) return null;
  return (
    <section className="card">
      <h2>Log</h2>
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        <ul className="plain">
          {entries.map(({ node }, at) => (
            <li key={at}>
              {titled(node.kind)} by <bdi>{node.by}</bdi> <Time at={node.at} />{' '}
              <span className="quiet" dir="auto">
                {node.reason}
              </span>
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
  readonly action: ShownAction;
  readonly session: Session;
}

function Explain({ action, session }: ExplainProps): ReactNode {
  const [memberId, setMember] = useState(session.memberId);
  const asked = memberId === session.memberId ? null : memberId;
  const { data, error, isLoading, reload } = useQuery<Explanation>(EXPLAIN, {
    actionId: action.id,
    memberId: asked,
  });
  useEvery(2_000, reload);
  const why = data?.explainFeedItem;
  return (
    <section className="card">
      <h2>Why it is in a feed, or not</h2>
      {session.roles.includes('admin') && (
        <form
          className="filters"
          onSubmit={(event) => {
            event.preventDefault();
            const given = (new FormData(event.currentTarget).get('reader') as string).trim();
            setMember(given === '' ? session.memberId : given);
          }}
        >
          <Picker name="reader" label="Feed of" defaultValue={memberId} kind={isPerson} onPick={setMember} />
          <button type="submit">Look</button>
        </form>
      )}
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        {why !== undefined && <Reasons {...{ why, action }} />}
      </States>
    </section>
  );
}

interface QuietProps {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly count?: number;
  readonly isOn?: boolean;
  readonly onClick: () => void;
}

/** An icon with a count; its name is read out, and shown as its hint. */
function QuietButton({ icon: Icon, label, count = 0, isOn, onClick }: QuietProps): ReactNode {
  return (
    <button type="button" title={label} aria-pressed={isOn} onClick={onClick}>
      <Icon aria-hidden="true" />
      <span data-visually-hidden>{label}</span>
      {count > 0 && <span> {count}</span>}
    </button>
  );
}
