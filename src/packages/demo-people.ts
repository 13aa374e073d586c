import { MEMBERS } from '../../packages/demo/src/people.ts';

/** People whom the console's page of the demo can act as. */
export const DEMO_PEOPLE: readonly { readonly memberId: string; readonly name: string }[] = MEMBERS;
