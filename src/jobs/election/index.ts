export type { CampaignOptions, Candidate, CandidateState, Term } from './candidate.ts';
export { createElection, type Election, type ElectionOptions } from './election.ts';
export type { ObservedStandings, ObserveOptions, Standings } from './observing.ts';
