/* The sub-commands of the tomography, as tools/common/command.h describes sub-commands. */
#ifndef TOMOGRAPHY_H
#define TOMOGRAPHY_H

/* Surface-wave tomography: assembles, factors and solves in one job. Collective, under MPI. */
int command_invert(int argc, char **argv);

/* Velocities and depth kernels of surface waves, as a table for `osla invert`. Without MPI. */
int command_reference(int argc, char **argv);

#endif
