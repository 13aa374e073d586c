import { createFeedClient } from '@fanfare/client';
import { Unplug } from 'lucide-react';
import { useEffect, useRef, useState, type CSSProperties, type ReactNode } from 'react';
import { KINDS } from './kinds.ts';
import type { Person } from './people.ts';
import { SIDES, type Published, type Side, type Tally } from './tally.ts';

const CUT_SECONDS = 10;
const SHOWN = 5;

interface Props {
  readonly person: Person | undefined;
  readonly people: readonly Person[];
  /** Whom all of it is addressed to: left and right. */
  readonly readers: readonly [string, string];
  readonly tally: Tally;
  readonly isCut: boolean;
  readonly onNetwork: (isCut: boolean) => void;
  readonly picker: ReactNode;
}

/** Who publishes. Everything is addressed to both readers, so both must get it. */
export function Actor({ person, people, readers, tally, isCut, onNetwork, picker }: Props): ReactNode {
  const [failure, setFailure] = useState('');
  const count = useRef(0);
  const publish = async (kind: string): Promise<void> => {
    const made = KINDS[kind]?.((count.current += 1));
    if (person === undefined || made === undefined) return;
    const at = performance.now();
    try {
      const client = createFeedClient({ url: '/graphql', token: person.token });
      const input = { ...made, scope: 'RESTRICTED' as const, recipients: readers };
      const { action } = await client.mutations.publishAction({ input });
      tally.add(action.id, at);
      setFailure('');
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  const nameOf = (side: Side): string =>
    people.find(({ memberId }) => memberId === readers[SIDES.indexOf(side)])?.name ?? '';
  return (
    <section className="screen" data-side="actor" aria-label="Who acts">
      {picker}
      <div className="pane">
        <div className="kinds">
          {Object.keys(KINDS).map((kind) => (
            <button key={kind} type="button" onClick={() => void publish(kind)}>
              {kind}
            </button>
          ))}
        </div>
        {failure !== '' && (
          <p role="alert" className="alert">
            {failure}
          </p>
        )}
        <Cut {...{ isCut, onNetwork }} published={tally.published} />
        <Arrivals published={tally.published} nameOf={nameOf} />
      </div>
    </section>
  );
}

interface CutProps {
  readonly isCut: boolean;
  readonly onNetwork: (isCut: boolean) => void;
  readonly published: readonly Published[];
}

/** Takes the network from both readers for ten seconds, and says what became of what was published meanwhile. */
function Cut({ isCut, onNetwork, published }: CutProps): ReactNode {
  const [left, setLeft] = useState(0);
  const [since, setSince] = useState<number | null>(null);
  useEffect(() => {
    if (!isCut) return undefined;
    const timer = setTimeout(() => {
      if (left > 1) setLeft(left - 1);
      else onNetwork(false);
    }, 1_000);
    return () => {
      clearTimeout(timer);
    };
  }, [isCut, left, onNetwork]);
  const toggle = (): void => {
    if (!isCut) {
      setSince(performance.now());
      setLeft(CUT_SECONDS);
    }
    onNetwork(!isCut);
  };
  const meanwhile = since === null ? [] : published.filter(({ at }) => at >= since);
  return (
    <div className="cut">
      <button type="button" role="switch" aria-checked={isCut} onClick={toggle}>
        <Unplug aria-hidden="true" />
        {isCut ? `Connect now (${String(left)} s)` : 'Cut the network for 10 s'}
      </button>
      <p role="status">{since === null ? '' : said(isCut, meanwhile)}</p>
    </div>
  );
}

function said(isCut: boolean, meanwhile: readonly Published[]): string {
  const count = String(meanwhile.length);
  if (isCut) return `Both are cut off. Published meanwhile: ${count}.`;
  const missing = meanwhile.filter((one) => SIDES.some((side) => one.shownAfter[side] === undefined)).length;
  return missing > 0
    ? `The network is back. Still on their way: ${String(missing)} of ${count}.`
    : `The network is back. Published since the cut: ${count}, lost: none.`;
}

interface ArrivalsProps {
  readonly published: readonly Published[];
  readonly nameOf: (side: Side) => string;
}

/** From the click to the screens. */
function Arrivals({ published, nameOf }: ArrivalsProps): ReactNode {
  if (published.length === 0)
    return (
      <p className="quiet">One click publishes, and both feeds move. Try it while the network is cut.</p>
    );
  const shown = (ms: number | undefined): string => (ms === undefined ? '…' : `${ms.toFixed(0)} ms`);
  const longest = Math.max(
    100,
    ...published.slice(0, SHOWN).flatMap(({ shownAfter }) => Object.values(shownAfter)),
  );
  const share = (ms = 0) => ({ '--of': `${String(Math.round((ms / longest) * 100))}%` }) as CSSProperties;
  return (
    <table className="arrivals">
      <caption>From the click to the screen of</caption>
      <thead>
        <tr>
          {SIDES.map((side) => (
            <th key={side} scope="col">
              {nameOf(side)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {published.slice(0, SHOWN).map(({ id, shownAfter }) => (
          <tr key={id}>
            {SIDES.map((side) => (
              <td key={side} style={share(shownAfter[side])}>
                {shown(shownAfter[side])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
