export { runGroup } from './group.ts';
export { isMember, runMember } from './member.ts';
