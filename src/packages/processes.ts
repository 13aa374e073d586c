/** `--processes` of `fanfare serve` and `fanfare worker`: the same command in several processes. */
export { runGroup } from '../../packages/processes/src/group.ts';
export { isMember, runMember } from '../../packages/processes/src/member.ts';
