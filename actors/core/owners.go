package core

import (
	"strconv"

	"hubcli/hub"
)

// AgentOwner is the owner of an agent.
func AgentOwner(id hub.AgentID) Owner { return Owner{Kind: OwnerAgent, Name: string(id)} }

// ChannelOwner is the owner of a channel.
func ChannelOwner(name hub.ChannelName) Owner { return Owner{Kind: OwnerChannel, Name: string(name)} }

// LeaseOwner is the owner of one shard of the leases.
func LeaseOwner(shard int) Owner { return Owner{Kind: OwnerLeases, Name: strconv.Itoa(shard)} }

// LeaseOwners lists the owners of all shards.
func LeaseOwners() []Owner {
	owners := make([]Owner, LeaseShards)
	for i := range owners {
		owners[i] = LeaseOwner(i)
	}
	return owners
}

// TasksOwner is the owner of all tasks and runs.
func TasksOwner() Owner { return Owner{Kind: OwnerTasks} }

// ProjectsOwner is the owner of all projects, rooms and bindings.
func ProjectsOwner() Owner { return Owner{Kind: OwnerProjects} }

// RoomOwner is the owner of what a room decides itself: seats, invites, records.
func RoomOwner(id hub.RoomID) Owner { return Owner{Kind: OwnerRoom, Name: string(id)} }

// MemoryOwner is the owner of the memories of a room or a project.
func MemoryOwner(of string) Owner { return Owner{Kind: OwnerMemory, Name: of} }

// SettingsOwner is the owner of the operator's settings.
func SettingsOwner() Owner { return Owner{Kind: OwnerSettings} }

// SpawnsOwner is the owner of all spawns and their policy.
func SpawnsOwner() Owner { return Owner{Kind: OwnerSpawns} }

// AsksOwner is the owner of all questions to the operator.
func AsksOwner() Owner { return Owner{Kind: OwnerAsks} }

// PausesOwner is the owner of all pauses.
func PausesOwner() Owner { return Owner{Kind: OwnerPauses} }

// MutesOwner is the owner of all mutes.
func MutesOwner() Owner { return Owner{Kind: OwnerMutes} }

// BudgetsOwner is the owner of all budgets.
func BudgetsOwner() Owner { return Owner{Kind: OwnerBudgets} }

// ConnectionsOwner is the owner of all connections to providers.
func ConnectionsOwner() Owner { return Owner{Kind: OwnerConnections} }

// DirectoryOwner names the section of a checkpoint that holds the live sessions.
// It decides nothing, and no record is its own.
func DirectoryOwner() Owner { return Owner{Kind: OwnerAgent} }
