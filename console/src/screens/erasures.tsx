import '../later.css';
import { useQuery } from '@fanfare/react';
import { Eraser } from 'lucide-react';
import type { ReactNode } from 'react';
import { goTo, hrefTo } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { shownNumber } from '../ui/count.ts';
import { isPerson } from '../ui/directory.ts';
import { ErasureState } from '../ui/erase-dialog.tsx';
import { Picker } from '../ui/picker.tsx';
import { States, Teach } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useEvery } from '../ui/use-every.ts';

const ERASURES = `query Erasures { erasures(first: 50) { edges { node {
  memberId state step changed requestedBy startedAt finishedAt } } } }`;

interface Erasures {
  readonly erasures: {
    readonly edges: readonly {
      readonly node: {
        readonly memberId: string | null;
        readonly state: string;
        readonly step: string | null;
        readonly changed: number;
        readonly requestedBy: string;
        readonly startedAt: string;
        readonly finishedAt: string | null;
      };
    }[];
  };
}

/** Who was erased, and how far it is. It begins on the page of the person, where the id is typed. */
export function ErasuresScreen(): ReactNode {
  const { data, error, isLoading, reload } = useQuery<Erasures>(ERASURES);
  useEvery(5_000, reload);
  const erasures = data?.erasures.edges ?? [];
  return (
    <>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          goTo('member', (new FormData(event.currentTarget).get('id') as string).trim());
        }}
      >
        <Picker
          name="id"
          label="Erase"
          isRequired
          kind={isPerson}
          onPick={(id) => {
            goTo('member', id);
          }}
        />
        <button type="submit">Look at what is stored</button>
      </form>
      <States
        {...{ isLoading, error }}
        isEmpty={erasures.length === 0}
        empty={
          <Teach
            icon={Eraser}
            title="Nobody has been erased."
            code='mutation { eraseMember(memberId: "mary") }'
          >
            Erasing somebody removes their feed, follows, marks and mutes, and takes their name from all they
            did.
          </Teach>
        }
        onRetry={reload}
      >
        <div className="card scroll">
          <table>
            <thead>
              <tr>
                {['Who', 'State', 'Changed', 'Asked for by', 'Begun', 'Done'].map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {erasures.map(({ node }, at) => (
                <tr key={at}>
                  <td>
                    {node.memberId === null ? (
                      <span className="quiet">no longer known</span>
                    ) : (
                      <a href={hrefTo('member', node.memberId)} dir="auto">
                        {node.memberId}
                      </a>
                    )}
                  </td>
                  <td>
                    <ErasureState of={node} />
                  </td>
                  <td className="figure">{shownNumber(node.changed)}</td>
                  <td dir="auto">{node.requestedBy}</td>
                  <td>
                    <Time at={node.startedAt} />
                  </td>
                  <td>{node.finishedAt === null ? '–' : <Time at={node.finishedAt} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </States>
      <AsCode query={ERASURES} />
    </>
  );
}
