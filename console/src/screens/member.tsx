import '../later.css';
import { useQuery } from '@fanfare/react';
import { Eraser, RotateCw } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { useSession } from '../session.ts';
import { AsCode, quoted } from '../ui/as-code.tsx';
import { shownNumber } from '../ui/count.ts';
import { EraseDialog, ErasureState } from '../ui/erase-dialog.tsx';
import { Mails } from '../ui/mails.tsx';
import { PageHead, PersonTabs } from '../ui/person.tsx';
import { RebuildState } from '../ui/rebuild-state.tsx';
import { States } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useClient } from '../ui/use-client.ts';
import { useEvery } from '../ui/use-every.ts';
import { titled } from '../ui/words.ts';

const MEMBER = `query MemberPage($id: String!) {
  member(memberId: $id) { memberId name imageUrl teamId departmentId supervisorId }
  erasure(memberId: $id) { state step changed requestedBy startedAt finishedAt } }`;
const EXPORT = 'query Export($id: String!) { memberExport(memberId: $id) }';
const REBUILD = 'mutation Rebuild($id: String!) { rebuildFeed(memberId: $id) }';
const ERASE = 'mutation Erase($id: String!) { eraseMember(memberId: $id) }';
const SHOWN = 50;

interface MemberData {
  readonly member: {
    readonly name: string;
    readonly imageUrl: string | null;
    readonly teamId: string | null;
    readonly departmentId: string | null;
    readonly supervisorId: string | null;
  } | null;
  readonly erasure: {
    readonly state: string;
    readonly step: string | null;
    readonly changed: number;
    readonly startedAt: string;
    readonly finishedAt: string | null;
  } | null;
}

/** None for what no id is: pasted, such characters may be taken for keys. */
function exportOf(id: string, tenant: string): string | undefined {
  if (/\p{Cc}/u.test(id)) return undefined;
  return `export${tenant === '' ? '' : ` --tenant=${quoted(tenant)}`} --member=${quoted(id)}`;
}

/** Everything about a person: what they follow and mute, the export, a rebuild, the erasure. */
export function MemberScreen({ id }: { readonly id: string }): ReactNode {
  const client = useClient();
  const tenant = useSession()?.tenant ?? '';
  const { data, error, isLoading, reload } = useQuery<MemberData>(MEMBER, { id });
  const [said, setSaid] = useState<ReactNode>('');
  const [isAsking, setAsking] = useState(false);
  const { member = null, erasure = null } = data ?? {};
  useEvery(erasure?.finishedAt === null ? 1_000 : 10_000, reload);
  const tell = async (what: () => Promise<ReactNode>): Promise<void> => {
    setSaid(
      await what().catch((reason: unknown) => (reason instanceof Error ? reason.message : String(reason))),
    );
    reload();
  };
  const rebuild = async (): Promise<ReactNode> => {
    await client.request(REBUILD, { id });
    return <RebuildState key={performance.now()} memberId={id} />;
  };
  const erase = async (): Promise<string> => {
    setAsking(false);
    const { eraseMember } = await client.request<{ readonly eraseMember: boolean }>(ERASE, { id });
    return eraseMember ? 'Erased' : 'The erasure goes on in the background';
  };
  return (
    <>
      <States {...{ isLoading, error }} isEmpty={data === undefined} empty="" onRetry={reload}>
        <PageHead id={id} name={member?.name ?? id} imageUrl={member?.imageUrl}>
          {data?.member === null && <span>not in the directory</span>}
          {member?.teamId != null && (
            <span>
              team <bdi>{member.teamId}</bdi>
            </span>
          )}
          {member?.departmentId != null && (
            <span>
              department <bdi>{member.departmentId}</bdi>
            </span>
          )}
          {member?.supervisorId != null && (
            <a href={hrefTo('member', member.supervisorId)}>
              supervisor <bdi>{member.supervisorId}</bdi>
            </a>
          )}
        </PageHead>
        <PersonTabs id={id} />
        <p className="buttons">
          <button type="button" onClick={() => void tell(rebuild)}>
            <RotateCw aria-hidden="true" /> Rebuild the feed
          </button>
          <button type="button" className="danger" onClick={() => setAsking(true)}>
            <Eraser aria-hidden="true" /> Erase …
          </button>
          <span role="status">{said}</span>
        </p>
        {erasure !== null && (
          <section className="card">
            <h2>Erasure</h2>
            <p role="status">
              <ErasureState of={erasure} /> {shownNumber(erasure.changed)} changed, asked for{' '}
              <Time at={erasure.startedAt} />
            </p>
          </section>
        )}
      </States>
      <Mails key={id} id={id} />
      <Holdings id={id} />
      <EraseDialog
        id={id}
        isOpen={isAsking}
        onErase={() => void tell(erase)}
        onClose={() => setAsking(false)}
      />
      <AsCode query={MEMBER} variables={{ id }} command={exportOf(id, tenant)} />
    </>
  );
}

/** What is stored about the person, read when it is asked for: it can be a lot. */
function Holdings({ id }: { readonly id: string }): ReactNode {
  const client = useClient();
  const [held, setHeld] = useState<Readonly<Record<string, unknown>> | null>(null);
  const [failure, setFailure] = useState('');
  const read = async (): Promise<void> => {
    try {
      const { memberExport } = await client.request<{
        readonly memberExport: Readonly<Record<string, unknown>>;
      }>(EXPORT, { id });
      setHeld(memberExport);
      setFailure('');
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section className="card">
      <h2>What is stored</h2>
      <p className="buttons">
        <button type="button" onClick={() => void read()}>
          Show
        </button>
        {held !== null && (
          <button type="button" onClick={() => save(`${id}.json`, held)}>
            Save as JSON
          </button>
        )}
      </p>
      {failure !== '' && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      {held !== null && <FollowsAndMutes {...{ id, held }} />}
      {held !== null &&
        Object.entries(held)
          .filter(([, value]) => value !== null && typeof value === 'object')
          .map(([name, value]) => <Part key={name} name={name} value={value as object} />)}
    </section>
  );
}

/** Of the export, as far as it is shown as a list. */
interface Held {
  readonly follows?: readonly {
    readonly refId: string;
    readonly active: boolean;
    /** Ids of the lists it is in. */
    readonly lists?: readonly string[];
  }[];
  readonly reader?: {
    readonly lists?: readonly { readonly id: string; readonly name: string; readonly isExclusive: boolean }[];
    readonly mutes?: readonly {
      readonly kind: string;
      readonly value: string;
      readonly until?: string | null;
    }[];
  } | null;
  readonly blocks?: readonly { readonly memberId: string; readonly since: string }[];
  readonly notifications?: readonly {
    readonly preferences: readonly {
      readonly kind: string;
      readonly type?: string | null;
      readonly channel: string;
      readonly isOn: boolean;
    }[];
    readonly quietHours: {
      readonly from: string;
      readonly to: string;
      readonly timeZone: string;
      readonly days?: readonly number[] | null;
    } | null;
  }[];
}

/** Whom and what somebody follows, around them. Beside the list that says the same to who does not see it. */
function Star({ id, to }: { readonly id: string; readonly to: readonly string[] }): ReactNode {
  const shown = to.slice(0, 16);
  return (
    <svg className="star" viewBox="0 0 360 220" aria-hidden="true">
      {shown.map((refId, n) => {
        const angle = (2 * Math.PI * (n + 0.5)) / shown.length - Math.PI / 2;
        const [x, y] = [180 + 95 * Math.cos(angle), 110 + 85 * Math.sin(angle)];
        const isLeft = x < 180;
        return (
          <a key={refId} href={hrefTo('slice', refId)} tabIndex={-1}>
            <line x1="180" y1="110" x2={x} y2={y} />
            <circle cx={x} cy={y} r="4" />
            <text x={x + (isLeft ? -8 : 8)} y={y + 3} textAnchor={isLeft ? 'end' : 'start'}>
              {refId.length > 18 ? `${refId.slice(0, 17)}…` : refId}
            </text>
          </a>
        );
      })}
      <circle className="middle" cx="180" cy="110" r="9" />
      <text x="180" y="132" textAnchor="middle">
        {id}
      </text>
    </svg>
  );
}

function FollowsAndMutes({ id, held }: { readonly id: string; readonly held: Held }): ReactNode {
  const { follows = [], reader, blocks = [], notifications = [] } = held;
  const followed = follows.filter(({ active }) => active);
  const mutes = reader?.mutes ?? [];
  return (
    <>
      <h3>
        Follows <span className="quiet">{followed.length}</span>
      </h3>
      {followed.length === 0 ? (
        <p className="quiet">Nobody and nothing.</p>
      ) : (
        <>
          <Star id={id} to={followed.map(({ refId }) => refId)} />
          <ul className="plain ids" aria-label="Follows">
            {followed.slice(0, SHOWN).map(({ refId }) => (
              <li key={refId}>
                <a href={hrefTo('slice', refId)} dir="auto">
                  {refId}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      {followed.length > SHOWN && <p className="quiet">and {followed.length - SHOWN} more.</p>}
      <Lists {...{ followed }} lists={reader?.lists ?? []} />
      <h3>
        Mutes <span className="quiet">{mutes.length}</span>
      </h3>
      {mutes.length === 0 ? (
        <p className="quiet">Nothing.</p>
      ) : (
        <ul className="plain" aria-label="Mutes">
          {mutes.slice(0, SHOWN).map(({ kind, value, until }) => (
            <li key={`${kind} ${value}`}>
              {kind.toLowerCase()}{' '}
              {kind === 'MEMBER' || kind === 'REF' ? <a href={hrefTo('slice', value)}>{value}</a> : value}
              {until != null && (
                <span className="quiet">
                  {' '}
                  until <Time at={until} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      <h3>
        Blocks <span className="quiet">{blocks.length}</span>
      </h3>
      {blocks.length === 0 ? (
        <p className="quiet">Nobody.</p>
      ) : (
        <ul className="plain ids" aria-label="Blocks">
          {blocks.slice(0, SHOWN).map(({ memberId, since }) => (
            <li key={memberId}>
              <a href={hrefTo('slice', memberId)}>{memberId}</a>{' '}
              <span className="quiet">
                <Time at={since} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <Wishes of={notifications[0]} />
      <h3>Everything</h3>
    </>
  );
}

interface ListsProps {
  readonly lists: NonNullable<NonNullable<Held['reader']>['lists']>;
  readonly followed: NonNullable<Held['follows']>;
}

/** The lists they have made of what they follow, which are theirs alone to change. */
function Lists({ lists, followed }: ListsProps): ReactNode {
  if (lists.length === 0) return null;
  return (
    <>
      <h3>
        Lists <span className="quiet">{lists.length}</span>
      </h3>
      <ul className="plain" aria-label="Lists">
        {lists.map(({ id, name, isExclusive }) => {
          const refIds = followed.filter((one) => one.lists?.includes(id)).map(({ refId }) => refId);
          return (
            <li key={id}>
              <bdi>{name}</bdi>{' '}
              <span className="quiet">{isExclusive ? 'kept out of the feed' : 'also in the feed'}</span>
              <ul className="plain ids" aria-label="In the list">
                {refIds.slice(0, SHOWN).map((refId) => (
                  <li key={refId}>
                    <a href={hrefTo('slice', refId)} dir="auto">
                      {refId}
                    </a>
                  </li>
                ))}
              </ul>
              {refIds.length > SHOWN && <p className="quiet">and {refIds.length - SHOWN} more.</p>}
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** What they have said about notifications; all else is as the host has it. */
function Wishes({ of }: { readonly of: NonNullable<Held['notifications']>[number] | undefined }): ReactNode {
  const { preferences = [], quietHours = null } = of ?? {};
  return (
    <>
      <h3>
        Notifications <span className="quiet">{preferences.length}</span>
      </h3>
      {preferences.length === 0 && quietHours === null && <p className="quiet">As the host has them.</p>}
      {preferences.length > 0 && (
        <ul className="plain" aria-label="Preferences">
          {preferences.map(({ kind, type, channel, isOn }) => (
            <li key={`${kind} ${type ?? ''} ${channel}`}>
              {titled(kind)}
              {type != null && ` of ${titled(type)}`}: {titled(channel)} {isOn ? 'on' : 'off'}
            </li>
          ))}
        </ul>
      )}
      {quietHours !== null && (
        <p>
          Quiet from {quietHours.from} to {quietHours.to} in {quietHours.timeZone}
          {quietHours.days != null && `, on days ${quietHours.days.join(', ')}`}
        </p>
      )}
    </>
  );
}

function Part({ name, value }: { readonly name: string; readonly value: object }): ReactNode {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  return (
    <details>
      <summary>
        <code>{name}</code> <span className="quiet">{entries.length}</span>
      </summary>
      <ul className="plain">
        {entries.slice(0, SHOWN).map((entry, at) => (
          <li key={at}>
            <pre className="data">{JSON.stringify(entry)}</pre>
          </li>
        ))}
      </ul>
      {entries.length > SHOWN && <p className="quiet">{entries.length - SHOWN} more are in the file.</p>}
    </details>
  );
}

function save(name: string, value: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  Object.assign(link, { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
