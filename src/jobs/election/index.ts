export {
  type CampaignOptions,
  type Candidate,
  type CandidateState,
  createElection,
  type Election,
  type ElectionOptions,
  type Term,
} from './election.ts';
export type { ObservedStandings, ObserveOptions, Standings } from './observing.ts';
