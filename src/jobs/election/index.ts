export type { CampaignOptions, Candidate, CandidateState, Term } from './candidate.ts';
export {
  createElection,
  type Election,
  type ElectionOptions,
  type ObservedStandings,
  type ObserveOptions,
  type Standings,
} from './election.ts';
