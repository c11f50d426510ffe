import type { Flight, FlightDay, World } from './world';

/** Every airport that the airline flies to. */
export const AIRPORTS = {
  SFO: 'San Francisco',
  JFK: 'New York',
  LAX: 'Los Angeles',
  ORD: 'Chicago',
  DFW: 'Dallas',
  DEN: 'Denver',
  SEA: 'Seattle',
  ATL: 'Atlanta',
  MIA: 'Miami',
  BOS: 'Boston',
  PHX: 'Phoenix',
  IAH: 'Houston',
  LAS: 'Las Vegas',
  MCO: 'Orlando',
  EWR: 'Newark',
  CLT: 'Charlotte',
  MSP: 'Minneapolis',
  DTW: 'Detroit',
  PHL: 'Philadelphia',
  LGA: 'LaGuardia',
};

/** A flight on a day as searches show it. */
type Offer = Omit<Flight, 'dates'> & FlightDay & { date?: string };

function offerOf({ dates, ...flight }: Flight, date: string): Offer | undefined {
  const day = dates[date];
  return day?.status === 'available' ? { ...flight, ...day } : undefined;
}

export interface Search {
  origin: string;
  destination: string;
  date: string;
}

export function directFlights({ flights }: World, { origin, destination, date }: Search): Offer[] {
  return Object.values(flights).flatMap((flight) => {
    const fits = flight.origin === origin && flight.destination === destination;
    return (fits && offerOf(flight, date)) || [];
  });
}

/** Pairs of flights with one stop; the second leaves after the first has arrived, on the day that it arrives. */
export function oneStopFlights({ flights }: World, { origin, destination, date }: Search): Offer[][] {
  const all = Object.values(flights);
  return all
    .filter((first) => first.origin === origin)
    .flatMap((first) =>
      all
        .filter((second) => second.destination === destination && second.origin === first.destination)
        .flatMap((second) => {
          const overnight = first.scheduled_arrival_time_est.includes('+1');
          const secondDate = overnight ? nextDay(date) : date;
          // Times are compared as they are written: one with "+1" is later in the alphabet, too.
          if (first.scheduled_arrival_time_est > second.scheduled_departure_time_est) return [];
          // The recorded tool shows the second flight as it is on the day that was asked for, whichever day it names.
          const [one, two] = [offerOf(first, date), offerOf(second, date)];
          return one && two
            ? [
                [
                  { ...one, date },
                  { ...two, date: secondDate },
                ],
              ]
            : [];
        }),
    );
}

const nextDay = (date: string): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
