import { Avatar, Content, leaderOf, Summary, type SummaryPart } from '@fanfare/react';
import type { ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { useSaid, type Said } from './said.ts';
import { Time } from './time.tsx';

/** What every list of actions knows of one. */
export interface ShownAction {
  readonly id: string;
  readonly conducted: string;
  readonly actor: { readonly memberId: string; readonly name: string; readonly imageUrl?: string | null };
  readonly engagement?: { readonly lastInteraction: string | null };
  readonly descriptor: {
    readonly summary: string;
    readonly summaryParts: readonly SummaryPart[];
    readonly tags?: readonly string[];
  };
}

export function hrefOfPart({ member, ref }: SummaryPart): string | undefined {
  const id = member?.memberId ?? ref?.refId;
  return id === undefined ? undefined : hrefTo('slice', id);
}

/** What an action calls somebody or something it is about. */
export function nameIn({ actor, descriptor }: Pick<ShownAction, 'actor' | 'descriptor'>, id: string): string {
  const part = descriptor.summaryParts.find(({ member, ref }) => id === (member?.memberId ?? ref?.refId));
  return part?.text ?? (actor.memberId === id ? actor.name : id);
}

interface Props {
  readonly action: ShownAction;
  /** What lifted it is said where it stands higher than its time. */
  readonly isLifted?: boolean;
  /** Beside the time, such as its state. */
  readonly meta?: ReactNode;
  readonly buttons?: ReactNode;
  /** Below it, such as its comments. */
  readonly children?: ReactNode;
}

/** One action: who, the sentence, what was said with it, when. */
export function Entry({ action, isLifted = false, meta, buttons, children }: Props): ReactNode {
  const said = useSaid(action) ?? null;
  return (
    <div className="entry">
      <Avatar {...leaderOf(action)} />
      <div>
        <div className="line">
          <Summary item={{ action: action as never }} hrefOf={hrefOfPart} />
          <a href={hrefTo('action', action.id)}>
            <Time at={action.conducted} />
          </a>
        </div>
        {said !== null && <Content item={{ action: said as never }} />}
        <div className="foot">
          <p className="meta">
            {meta}
            {action.descriptor.tags?.map((tag) => (
              <a key={tag} className="chip" href={hrefTo('feed', '', { tag })} dir="auto">
                #{tag}
              </a>
            ))}
            {isLifted && said?.last != null && <Lifted by={said.last} />}
          </p>
          {buttons}
        </div>
        {children}
      </div>
    </div>
  );
}

const DID: Readonly<Record<string, string>> = {
  COMMENT: 'commented',
  LIKE: 'liked it',
  RESHARE: 'passed it on',
  REACTION: 'reacted',
};

function Lifted({ by: { kind, at, actor } }: { readonly by: NonNullable<Said['last']> }): ReactNode {
  return (
    <span className="lifted">
      <bdi>{actor.name}</bdi> {DID[kind] ?? 'touched it'} · <Time at={at} />
    </span>
  );
}
