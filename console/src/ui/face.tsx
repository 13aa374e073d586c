import { Avatar } from '@fanfare/react';
import { Box, Briefcase, FileText, UserRound, Users, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { PERSON, type Entry } from './directory.ts';

/** Of types that many hosts have; all others are things. */
const ICONS: Readonly<Record<string, LucideIcon>> = {
  ...{
    applicant: UserRound,
    user: UserRound,
    member: UserRound,
    team: Users,
    department: Users,
    group: Users,
  },
  ...{ post: FileText, article: FileText, page: FileText, document: FileText, report: FileText },
  ...{ position: Briefcase, job: Briefcase, project: Briefcase, task: Briefcase },
};

/** A person by picture or initials, a thing by what it is. */
export function Face({
  of: { id, name, kind, imageUrl },
}: {
  readonly of: Pick<Entry, 'id' | 'name' | 'kind' | 'imageUrl'>;
}): ReactNode {
  if (kind === PERSON) return <Avatar {...{ id, name }} src={imageUrl} />;
  const Icon = ICONS[kind] ?? Box;
  return (
    <span className="thing" aria-hidden="true">
      <Icon />
    </span>
  );
}
